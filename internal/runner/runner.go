package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// reportTimeout bounds the report of a failure, after which nothing else can be done.
const reportTimeout = 30 * time.Second

// credentialFiles are the files of a just-in-time configuration, as the metadata service names them; on disk each has
// a dot before its name.
var credentialFiles = []string{"runner", "credentials", "credentials_rsaparams"}

// Bootstrap turns the machine into a runner and stays until the runner ends.
type Bootstrap struct {
	config Config
	server *server
	log    *slog.Logger
	out    io.Writer
}

// New makes a Bootstrap. out gets what the runner prints; it has to bear concurrent writes.
func New(c Config, out io.Writer, log *slog.Logger) (*Bootstrap, error) {
	s, err := newServer(c)
	if err != nil {
		return nil, err
	}
	return &Bootstrap{config: c, server: s, log: log.With("runner", c.Name), out: out}, nil
}

// Run goes through all steps. It returns nil when the runner ended by itself with success, and an *ExitError when it
// ended otherwise. Signals from the channel go to the runner; until there is one, the first of them ends Run. A failure
// before the runner waits for jobs is reported to the server.
func (b *Bootstrap) Run(ctx context.Context, signals <-chan os.Signal) error {
	defer b.server.http.CloseIdleConnections()
	child, agentID, err := b.prepare(ctx, signals)
	if err != nil {
		b.reportFailure(ctx, err)
		return err
	}
	// The runner may have been given a job before its report got here, and then the server refuses the report.
	if err := b.announce(ctx, agentID); err != nil {
		b.log.Warn("the runner is connected, but the server did not take the report", "error", err)
	}
	return child.wait()
}

// prepare comes as far as a runner that is connected.
func (b *Bootstrap) prepare(ctx context.Context, signals <-chan os.Signal) (*child, int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	relay := newRelay(signals, func(s os.Signal) { cancel(fmt.Errorf("ended by the signal %q", s)) })
	fail := func(err error) (*child, int64, error) {
		relay.stop()
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
			err = cause
		}
		return nil, 0, err
	}
	if err := b.server.status(ctx, garm.StatusUpdate{Status: garm.RunnerInstalling, Message: "preparing the runner"}); err != nil {
		return fail(err)
	}
	if err := b.credentials(ctx); err != nil {
		return fail(err)
	}
	agentID, err := readAgentID(b.config.Dir)
	if err != nil {
		return fail(err)
	}
	c, err := startChild(ctx, b.config, b.out, relay)
	if err != nil {
		return fail(err)
	}
	b.log.Info("runner started", "pid", c.pid(), "agent", agentID)
	if err := c.ready(ctx, b.config.ReadyTimeout); err != nil {
		c.kill()
		return fail(err)
	}
	return c, agentID, nil
}

// credentials brings the runner's files into its folder.
func (b *Bootstrap) credentials(ctx context.Context) error {
	if !b.config.JIT {
		token, err := b.server.registrationToken(ctx)
		if err != nil {
			return err
		}
		return configure(ctx, b.config, token, b.out)
	}
	for _, name := range credentialFiles {
		data, err := b.server.credential(ctx, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.config.Dir, "."+name), data, 0o600); err != nil {
			return fmt.Errorf("keeping the file .%s: %w", name, err)
		}
	}
	return nil
}

// announce tells the server where the runner runs and that it waits for jobs. The latter comes last, since the
// instance token is void from then on.
func (b *Bootstrap) announce(ctx context.Context, agentID int64) error {
	info := systemInfo()
	info.AgentID = &agentID
	if err := b.server.systemInfo(ctx, info); err != nil {
		return err
	}
	if err := b.server.status(ctx, garm.StatusUpdate{Status: garm.RunnerIdle, Message: "runner successfully installed", AgentID: &agentID}); err != nil {
		return err
	}
	b.log.Info("runner waits for jobs", "agent", agentID)
	return nil
}

func (b *Bootstrap) reportFailure(ctx context.Context, failure error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	if err := b.server.status(ctx, garm.StatusUpdate{Status: garm.RunnerFailed, Message: failure.Error()}); err != nil {
		b.log.Error("the failure could not be reported", "error", err)
	}
}

// readAgentID reads GitHub's id of the runner from the file .runner.
func readAgentID(dir string) (int64, error) {
	data, err := os.ReadFile(filepath.Join(dir, ".runner"))
	if err != nil {
		return 0, fmt.Errorf("reading the runner's configuration: %w", err)
	}
	var settings struct {
		AgentID json.Number `json:"agentId"` // a number, or text in just-in-time configurations
	}
	// GitHub's own runner begins its files with a byte order mark.
	if err := json.Unmarshal(trimBOM(data), &settings); err != nil {
		return 0, errors.New("reading the runner's configuration: .runner is not the JSON that is due")
	}
	id, err := settings.AgentID.Int64()
	if err != nil {
		return 0, errors.New("reading the runner's configuration: .runner has no agentId")
	}
	return id, nil
}

func trimBOM(data []byte) []byte {
	const mark = "\xef\xbb\xbf"
	if len(data) >= len(mark) && string(data[:len(mark)]) == mark {
		return data[len(mark):]
	}
	return data
}
