package demo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// stopGrace is how long a program has to stop by itself.
const stopGrace = 15 * time.Second

// program is a running child process whose output goes to a file.
type program struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// startProgram starts a program of its own process group, so that a Ctrl-C at the terminal reaches the demo alone, which
// stops everything in order. The guard ends it where the demo cannot.
//
// No context: a context that ends kills the program, and stop is to end it well.
func (w *world) startProgram(name string, args ...string) (*program, error) {
	path, err := w.guard.Wrap(filepath.Join(w.options.BinDir, name))
	if err != nil {
		return nil, err
	}
	p := &program{name: name, log: filepath.Join(w.dir, "logs", name+".log"), done: make(chan struct{})}
	file, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("making the log of %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	p.cmd = exec.CommandContext(context.Background(), path, args...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop asks the program to end, and kills it if it does not.
func (p *program) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("%s did not stop within %s and was killed", p.name, stopGrace)
	}
	if p.err != nil {
		return fmt.Errorf("%s stopped with %w", p.name, p.err)
	}
	return nil
}

// waitHTTP waits until the program answers at url with a status that ok accepts.
func (p *program) waitHTTP(ctx context.Context, url string, ok func(status int) bool) error {
	return wait.Until(ctx, func() error {
		select {
		case <-p.done:
			return wait.Final(fmt.Errorf("%s ended: %w", p.name, p.err))
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return wait.Final(err)
		}
		resp, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		if !ok(resp.StatusCode) {
			return fmt.Errorf("%s answers %s", url, resp.Status)
		}
		return nil
	})
}

// tail returns the last lines of the program's output.
func (p *program) tail(lines int) string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
