// Package e2e_test runs the programs as users do.
package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/programs"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// patience is how long one run of the demo may take on a machine that has other things to do.
const patience = 5 * time.Minute

// copied returns a folder with copies of the programs, one that no other test uses.
func copied(t *testing.T) string {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	dir := t.TempDir()
	built, err := programs.Build(t.Context(), "../..", "...")
	if err != nil {
		t.Fatal(err)
	}
	// Not by itself: Go would test anew after each build, for the programs' times.
	if out, err := exec.CommandContext(t.Context(), "cp", "-R", built.Dir+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the programs: %v\n%s", err, out)
	}
	if err := built.Remove(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run is one run of the demo, with programs and a folder for temporary files of its own, so that what it leaves is known
// from what others do.
type run struct {
	*exec.Cmd
	out       *bytes.Buffer
	dir, temp string
}

// demo returns the demo, ready to start.
func demo(t *testing.T, folder string, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r := run{out: &bytes.Buffer{}, dir: t.TempDir(), temp: t.TempDir()}
	built, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range built {
		if err := os.Link(filepath.Join(folder, program.Name()), filepath.Join(r.dir, program.Name())); err != nil {
			t.Fatal(err)
		}
	}
	r.Cmd = exec.CommandContext(ctx, filepath.Join(r.dir, "garm-dev"), append([]string{"demo"}, args...)...)
	r.Env = append(os.Environ(), "TMPDIR="+r.temp)
	r.Stdout, r.Stderr = r.out, r.out
	return r
}

// nothingLeft checks that no temporary file is left, and no process that was started from the run's folders.
func (r run) nothingLeft(t *testing.T) {
	t.Helper()
	for _, what := range r.left(t) {
		t.Error(what)
	}
}

// wipedOut waits until nothing is left: what cleans up after a demo that was killed tells nobody when it is done.
func (r run) wipedOut(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := wait.Until(ctx, func() error {
		if left := r.left(t); len(left) > 0 {
			return errors.New(strings.Join(left, "; "))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// left names the temporary files and the processes of the run.
func (r run) left(t *testing.T) []string {
	t.Helper()
	var left []string
	entries, err := os.ReadDir(r.temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name()+" is left")
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		line, err := os.ReadFile(p)
		if err == nil && (bytes.Contains(line, []byte(r.temp)) || bytes.Contains(line, []byte(r.dir))) {
			left = append(left, fmt.Sprintf("a process is left: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return left
}

// OP-66: the demo is the proof of the whole, with the real server: jobs run on runners that Kubernetes manifests asked for.
func TestDemo(t *testing.T) {
	dir := copied(t)

	t.Run("once", func(t *testing.T) {
		t.Parallel()
		r := demo(t, dir, "--once")
		out := r.out
		if err := r.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "demo: ok ") {
			t.Errorf("the last line is %q", last)
		}
		if got := len(regexp.MustCompile(`(?m) ran on garm-`).FindAllString(out.String(), -1)); got != 10 {
			t.Errorf("%d jobs are shown, not 10:\n%s", got, out)
		}
		r.nothingLeft(t)
	})

	t.Run("a fault anywhere ends it with 1", func(t *testing.T) {
		t.Parallel()
		for name, fault := range map[string]string{
			"runners cannot be registered": `{"match": "generate-jitconfig", "status": 500}`,
			"an answer is lost once":       `{"match": "generate-jitconfig", "drop": true, "apply": true, "count": 1}`,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := demo(t, dir, "--once", "--step-timeout=20s", "--fault="+fault)
				out, err := r.out, r.Run()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 1 {
					t.Errorf("it ended with %v\n%s", err, out)
				}
				if strings.Contains(out.String(), "demo: ok") {
					t.Errorf("it says that all is well:\n%s", out)
				}
				r.nothingLeft(t)
			})
		}
	})

	t.Run("with the server in the operator, it stays up until Ctrl-C", func(t *testing.T) {
		t.Parallel()
		r := demo(t, dir, "--embedded")
		done := r.startUntil(t, "Everything stays up until Ctrl-C")
		if err := r.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("after Ctrl-C it ended with %v\n%s", err, r.out)
		}
		r.nothingLeft(t)
	})

	t.Run("killed, it leaves nothing either", func(t *testing.T) {
		t.Parallel()
		r := demo(t, dir)
		done := r.startUntil(t, "first runner is idle")
		if err := r.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-done
		r.wipedOut(t)
	})
}

// startUntil starts the demo, waits until it has said something, and returns how it ends.
func (r run) startUntil(t *testing.T, mark string) <-chan error {
	t.Helper()
	pipe := &marked{mark: mark, seen: make(chan struct{}), out: r.out}
	r.Stdout, r.Stderr = pipe, pipe
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.Wait() }()
	select {
	case <-pipe.seen:
	case err := <-done:
		t.Fatalf("it ended with %v\n%s", err, r.out)
	}
	return done
}

// marked collects output and closes seen when the mark has come.
type marked struct {
	mark string
	seen chan struct{}
	out  *bytes.Buffer
	done bool
}

func (m *marked) Write(p []byte) (int, error) {
	n, err := m.out.Write(p)
	if !m.done && strings.Contains(m.out.String(), m.mark) {
		m.done = true
		close(m.seen)
	}
	return n, err
}
