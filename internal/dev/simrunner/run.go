package simrunner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// ListeningLine is what the runner prints once it is connected, after the time. The real one prints the same.
const ListeningLine = "Listening for Jobs"

// ErrRemoved says that GitHub no longer knows the runner.
var ErrRemoved = errors.New("the runner registration has been deleted from the server")

// Run connects the runner whose files are in dir and works on jobs until ctx ends, which is no error, or, if the runner
// is ephemeral, until its one job is done. A job that ctx interrupts is reported as cancelled.
func Run(ctx context.Context, dir string, out io.Writer) error {
	id, err := readIdentity(dir)
	if err != nil {
		return err
	}
	r := &runner{client: newClient(id.settings.ServerURL, id.credentials.Data.Token), out: out, ephemeral: id.settings.Ephemeral}
	defer r.client.http.CloseIdleConnections()
	// The session outlives ctx until an interrupted job has been reported; only its opening is cut short.
	session, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	opened := context.AfterFunc(ctx, hangUp)
	messages, err := r.connect(session)
	opened()
	if err != nil {
		return fmt.Errorf("connecting the runner: %w", err)
	}
	return r.work(ctx, messages)
}

type runner struct {
	client    *client
	out       io.Writer
	ephemeral bool
}

func (r *runner) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, time.Now().UTC().Format("2006-01-02 15:04:05Z")+": "+format+"\n", args...)
}

// connect opens the session. The channel is closed when the session ends.
func (r *runner) connect(ctx context.Context) (<-chan runnerapi.Message, error) {
	response, err := r.client.do(ctx, http.MethodGet, runnerapi.SessionPath, http.NoBody) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		var refused *statusError
		if errors.As(err, &refused) && refused.status == http.StatusUnauthorized {
			return nil, ErrRemoved
		}
		return nil, err
	}
	messages := make(chan runnerapi.Message)
	go func() {
		defer close(messages)
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			var m runnerapi.Message
			if json.Unmarshal(lines.Bytes(), &m) != nil {
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	return messages, nil
}

func (r *runner) work(ctx context.Context, messages <-chan runnerapi.Message) error {
	for {
		select {
		case <-ctx.Done():
			r.say("Exiting...")
			return nil
		case m, open := <-messages:
			if !open {
				return errors.New("the connection to the server was lost")
			}
			done, err := r.handle(ctx, m, messages)
			if done || err != nil {
				return err
			}
		}
	}
}

// handle reacts to a message and says whether the runner is done.
func (r *runner) handle(ctx context.Context, m runnerapi.Message, messages <-chan runnerapi.Message) (bool, error) {
	switch m.Type {
	case runnerapi.Connected:
		_, _ = fmt.Fprintln(r.out, "√ Connected to GitHub")
		r.say(ListeningLine)
	case runnerapi.Removed:
		return true, ErrRemoved
	case runnerapi.JobAssigned:
		if m.Job == nil {
			return true, errors.New("the server sent a job without its content")
		}
		if err := r.runJob(ctx, *m.Job, messages); err != nil {
			return true, err
		}
		return r.ephemeral, nil
	}
	return false, nil
}

func (r *runner) runJob(ctx context.Context, job runnerapi.Job, messages <-chan runnerapi.Message) error {
	// Reports are not cut short: the server may have taken one whose answer nobody waits for any more.
	reporting := context.WithoutCancel(ctx)
	if err := r.client.post(reporting, runnerapi.StartPath, runnerapi.Report{JobID: job.ID}, nil); err != nil {
		return fmt.Errorf("starting job %d: %w", job.ID, err)
	}
	r.say("Running job: %s", job.Name)
	conclusion := r.pretend(ctx, job, messages)
	if conclusion == "" {
		r.say("Job %s completed with result: Canceled", job.Name)
		return nil
	}
	if err := r.client.post(reporting, runnerapi.FinishPath, runnerapi.Report{JobID: job.ID, Conclusion: conclusion}, nil); err != nil {
		return fmt.Errorf("finishing job %d: %w", job.ID, err)
	}
	r.say("Job %s completed with result: %s", job.Name, conclusion)
	return nil
}

// pretend waits as long as the job takes and returns its conclusion, which is empty where the server ended the job.
func (r *runner) pretend(ctx context.Context, job runnerapi.Job, messages <-chan runnerapi.Message) string {
	timer := time.NewTimer(job.Duration)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return job.Conclusion
		case <-ctx.Done():
			return "cancelled"
		case m, open := <-messages:
			if !open || m.Type == runnerapi.JobCancelled || m.Type == runnerapi.Removed {
				return ""
			}
		}
	}
}
