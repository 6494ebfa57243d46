// Package e2e_test runs the programs as users do.
package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
)

// patience is how long one run of the demo may take on a machine that has other things to do.
const patience = 5 * time.Minute

// programs builds the programs and returns their folder.
func programs(t *testing.T) string {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", dir, "../../cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
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
func demo(t *testing.T, programs string, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r := run{out: &bytes.Buffer{}, dir: t.TempDir(), temp: t.TempDir()}
	built, err := os.ReadDir(programs)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range built {
		if err := os.Link(filepath.Join(programs, program.Name()), filepath.Join(r.dir, program.Name())); err != nil {
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
	dir, temp := r.dir, r.temp
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		line, err := os.ReadFile(p)
		if err == nil && (bytes.Contains(line, []byte(temp)) || bytes.Contains(line, []byte(dir))) {
			t.Errorf("a process is left: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
}

// OP-66: the demo is the proof of the whole, with the real server: jobs run on runners that Kubernetes manifests asked for.
func TestDemo(t *testing.T) {
	dir := programs(t)

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
			"the token is refused":         `{"match": "/actions/runners/downloads", "status": 401}`,
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
		out := r.out
		pipe := &marked{mark: "Everything stays up until Ctrl-C", seen: make(chan struct{}), out: out}
		r.Stdout, r.Stderr = pipe, pipe
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- r.Wait() }()
		select {
		case <-pipe.seen:
		case err := <-done:
			t.Fatalf("it ended with %v\n%s", err, out)
		}
		if err := r.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("after Ctrl-C it ended with %v\n%s", err, out)
		}
		r.nothingLeft(t)
	})
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
