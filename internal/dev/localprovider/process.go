package localprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/runner"
)

const (
	// pidTimeout is how long a process that was started may take to write its id down.
	pidTimeout = 5 * time.Second
	// killTimeout is how long a process may take to be gone after it was killed.
	killTimeout = 5 * time.Second
)

// launcher writes its own process id down and becomes the program: so the id is on disk however early the provider dies.
const launcher = `echo $$ >"$0.draft" && mv "$0.draft" "$0" && exec "$@"`

// start starts the process of a machine, in a session and process group of its own.
func (f folder) start(ctx context.Context, c Config, b provider.BootstrapInstance) error {
	lock, err := os.OpenFile(f.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("starting the process: %w", err)
	}
	// The process inherits the file and with it the lock, which ends with the last process that has the file open.
	defer func() { _ = lock.Close() }()
	if err := poll(ctx, func() (bool, error) { return tryLock(lock, syscall.LOCK_EX) }); err != nil {
		return fmt.Errorf("starting the process: %w", err)
	}
	log, err := os.OpenFile(f.path("runner.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("starting the process: %w", err)
	}
	defer func() { _ = log.Close() }()

	args := append([]string{"-c", launcher, f.path("pid")}, c.RunnerCommand...)
	args = append(append(args, c.AgentCommand...), "run")
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", args...) // outlives the call
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = f.path("home"), log, log, []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Env, err = f.environ(c, b); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the process: %w", err)
	}
	if err := cmd.Process.Release(); err != nil {
		return fmt.Errorf("starting the process: %w", err)
	}
	return nil
}

// environ is what the bootstrap program gets to know. The token is in a file, not here.
func (f folder) environ(c Config, b provider.BootstrapInstance) ([]string, error) {
	configure, err := json.Marshal(append(append([]string{}, c.AgentCommand...), "configure"))
	if err != nil {
		return nil, fmt.Errorf("encoding the configure command: %w", err)
	}
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + f.path("home"),
		runner.EnvMetadataURL + "=" + b.MetadataURL,
		runner.EnvCallbackURL + "=" + b.CallbackURL,
		runner.EnvTokenFile + "=" + f.path("token"),
		runner.EnvJIT + "=" + strconv.FormatBool(b.JITConfigEnabled),
		runner.EnvURL + "=" + b.RepoURL,
		runner.EnvName + "=" + b.Name,
		runner.EnvLabels + "=" + strings.Join(b.Labels, ","),
		runner.EnvGroup + "=" + b.RunnerGroup,
		runner.EnvDir + "=" + f.path("home"),
		runner.EnvConfigure + "=" + string(configure),
	}
	if len(b.CACertBundle) > 0 {
		env = append(env, runner.EnvCACertFile+"="+f.path("ca.pem"))
	}
	return env, nil
}

// alive says whether the process of the machine, or a child of it, lives: whether the lock is held.
func (f folder) alive() (bool, error) {
	lock, err := os.OpenFile(f.path("lock"), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the process: %w", err)
	}
	defer func() { _ = lock.Close() }()
	// A shared lock, so that two who look do not take each other for the process.
	free, err := tryLock(lock, syscall.LOCK_SH)
	if err != nil {
		return false, fmt.Errorf("looking for the process: %w", err)
	}
	return !free, nil
}

// started says whether the process of the machine was ever started.
func (f folder) started() (bool, error) {
	if _, err := os.Stat(f.path("pid")); err == nil {
		return true, nil
	}
	return f.alive()
}

// stop ends the whole process group: by SIGTERM, and after the time-out by SIGKILL. It returns when all are gone.
func (f folder) stop(ctx context.Context, timeout time.Duration) error {
	alive, err := f.alive()
	if err != nil || !alive {
		return err
	}
	pid, err := f.pid(ctx)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		signal  syscall.Signal
		timeout time.Duration
	}{{syscall.SIGTERM, timeout}, {syscall.SIGKILL, killTimeout}} {
		if err := syscall.Kill(-pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("ending the process %d: %w", pid, err)
		}
		waiting, cancel := context.WithTimeout(ctx, step.timeout)
		err = poll(waiting, f.gone)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("the process %d does not end", pid)
}

func (f folder) gone() (bool, error) {
	alive, err := f.alive()
	return !alive, err
}

// pid is the id of the process, which is also that of its group.
func (f folder) pid(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, pidTimeout)
	defer cancel()
	var data []byte
	err := poll(ctx, func() (bool, error) {
		var err error
		data, err = os.ReadFile(f.path("pid"))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return 0, fmt.Errorf("reading the process id: %w", err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("reading the process id: %q is none", data)
	}
	return pid, nil
}
