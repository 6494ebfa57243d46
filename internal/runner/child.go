package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// configureTimeout bounds the registration of a runner.
const configureTimeout = 5 * time.Minute

// drainTimeout is how long what a command left running may keep its output open after its end.
const drainTimeout = 5 * time.Second

// tokenVariable is where the GitHub runner looks for the argument --token, so that it is on no command line.
const tokenVariable = "ACTIONS_RUNNER_INPUT_TOKEN"

// ExitError says that the runner ended without success.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("the runner ended with exit code %d", e.Code) }

// configure registers the runner with a registration token.
func configure(ctx context.Context, c Config, token string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()
	args := append(append([]string{}, c.Configure[1:]...), "--unattended", "--url", c.URL, "--name", c.Name,
		"--labels", strings.Join(c.Labels, ","), "--no-default-labels", "--ephemeral", "--disableupdate")
	if c.Group != "" {
		args = append(args, "--runnergroup", c.Group)
	}
	cmd := exec.CommandContext(ctx, c.Configure[0], args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Dir, out, out, drainTimeout
	cmd.Env = append(os.Environ(), tokenVariable+"="+token)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("registering the runner: %w", err)
	}
	return nil
}

// child is the running runner.
type child struct {
	cmd       *exec.Cmd
	connected chan struct{} // closed when the ready line was printed
	ended     chan struct{} // closed when the process is gone; err is set before
	err       error
	relay     *relay
}

// startChild starts the runner, which from then on gets the signals. It does not end with ctx: only signals end it.
func startChild(ctx context.Context, c Config, out io.Writer, r *relay) (*child, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.Run[0], c.Run[1:]...)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = c.Dir, out, drainTimeout
	started := &child{cmd: cmd, connected: make(chan struct{}), ended: make(chan struct{}), relay: r}
	cmd.Stdout = &watcher{out: out, line: c.ReadyLine, seen: sync.OnceFunc(func() { close(started.connected) })}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the runner: %w", err)
	}
	r.redirect(func(s os.Signal) { _ = cmd.Process.Signal(s) })
	go func() {
		started.err = cmd.Wait()
		close(started.ended)
	}()
	return started, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// ready waits until the runner is connected.
func (c *child) ready(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-c.connected:
		return nil
	case <-c.ended:
		select {
		case <-c.connected: // it was quick
			return nil
		default:
			return fmt.Errorf("the runner ended before it was connected: %w", c.wait())
		}
	case <-timer.C:
		return fmt.Errorf("the runner was not connected within %s", timeout)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wait returns how the runner ended.
func (c *child) wait() error {
	<-c.ended
	c.relay.stop()
	var exit *exec.ExitError
	switch {
	case errors.As(c.err, &exit):
		return &ExitError{Code: exit.ExitCode()}
	case c.err != nil && !errors.Is(c.err, exec.ErrWaitDelay):
		return fmt.Errorf("waiting for the runner: %w", c.err)
	}
	return nil
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

// watcher passes on what is written and looks for a line.
type watcher struct {
	out  io.Writer
	line string
	seen func()
	rest []byte
}

// maxLine bounds how much of an unfinished line is kept.
const maxLine = 64 << 10

func (w *watcher) Write(data []byte) (int, error) {
	w.rest = append(w.rest, data...)
	for {
		advance, line, _ := bufio.ScanLines(w.rest, false)
		if advance == 0 {
			break
		}
		if strings.Contains(string(line), w.line) {
			w.seen()
		}
		w.rest = w.rest[advance:]
	}
	if len(w.rest) > maxLine {
		w.rest = nil
	}
	return w.out.Write(data)
}

// relay passes signals on: to whom, changes with the step.
type relay struct {
	mu     sync.Mutex
	target func(os.Signal)
	done   chan struct{}
	once   sync.Once
}

func newRelay(signals <-chan os.Signal, target func(os.Signal)) *relay {
	r := &relay{target: target, done: make(chan struct{})}
	go func() {
		for {
			select {
			case s := <-signals:
				r.mu.Lock()
				r.target(s)
				r.mu.Unlock()
			case <-r.done:
				return
			}
		}
	}()
	return r
}

func (r *relay) redirect(target func(os.Signal)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target = target
}

func (r *relay) stop() { r.once.Do(func() { close(r.done) }) }
