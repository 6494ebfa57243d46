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

// demo returns the command of the demo. Its temporary files go to a folder of the test.
func demo(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, out *bytes.Buffer, temp string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	temp, out = t.TempDir(), &bytes.Buffer{}
	cmd = exec.CommandContext(ctx, filepath.Join(dir, "garm-dev"), append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out, temp
}

// nothingLeft checks that no file is left in the folder, and no process that was started from it or from dir.
func nothingLeft(t *testing.T, dir, temp string) {
	t.Helper()
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
		cmd, out, temp := demo(t, dir, "--once")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "demo: ok ") {
			t.Errorf("the last line is %q", last)
		}
		if got := len(regexp.MustCompile(`(?m) ran on garm-`).FindAllString(out.String(), -1)); got != 10 {
			t.Errorf("%d jobs are shown, not 10:\n%s", got, out)
		}
		nothingLeft(t, dir, temp)
	})

	t.Run("a fault anywhere ends it with 1", func(t *testing.T) {
		for name, fault := range map[string]string{
			"runners cannot be registered": `{"match": "generate-jitconfig", "status": 500}`,
			"the token is refused":         `{"match": "/actions/runners/downloads", "status": 401}`,
		} {
			t.Run(name, func(t *testing.T) {
				cmd, out, temp := demo(t, dir, "--once", "--step-timeout=20s", "--fault="+fault)
				err := cmd.Run()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 1 {
					t.Errorf("it ended with %v\n%s", err, out)
				}
				if strings.Contains(out.String(), "demo: ok") {
					t.Errorf("it says that all is well:\n%s", out)
				}
				nothingLeft(t, dir, temp)
			})
		}
	})

	t.Run("with the server in the operator, it stays up until Ctrl-C", func(t *testing.T) {
		cmd, out, temp := demo(t, dir, "--embedded")
		pipe := &marked{mark: "Everything stays up until Ctrl-C", seen: make(chan struct{}), out: out}
		cmd.Stdout, cmd.Stderr = pipe, pipe
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-pipe.seen:
		case err := <-done:
			t.Fatalf("it ended with %v\n%s", err, out)
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("after Ctrl-C it ended with %v\n%s", err, out)
		}
		nothingLeft(t, dir, temp)
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
