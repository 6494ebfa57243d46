// Package providertest makes a test binary a provider program, so that tests run real processes without building any.
//
// A package calls Main from its TestMain. A test makes a Stub and configures a provider with Stub.Executable and
// Stub.ConfigFile: the test binary, run again by the server, finds in the file how to behave.
package providertest

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// Behaviour is what a stub does at each run, in the order of the fields.
type Behaviour struct {
	// Stdout and Stderr are written as they are. $NAME stands for the name in the bootstrap data, $TOKEN for the
	// instance token.
	Stdout string
	Stderr string
	// StderrSize is how many further bytes are written to standard error.
	StderrSize int
	// Child starts a process of the same group that lives as long as Sleep.
	Child bool
	Sleep time.Duration
	// Left starts a process that lives so long, however soon the program ends, and holds its output open.
	Left time.Duration
	Exit int
}

// Stub is a provider program with a memory.
type Stub struct {
	ConfigFile string
	record     string
}

type script struct {
	Record     string
	Behaviours map[provider.Command]Behaviour
}

// New makes a stub. A command without a behaviour ends with code 0 and no output.
func New(t testing.TB, behaviours map[provider.Command]Behaviour) *Stub {
	t.Helper()
	dir := t.TempDir()
	s := &Stub{ConfigFile: filepath.Join(dir, "stub.json"), record: filepath.Join(dir, "runs.jsonl")}
	data, err := json.Marshal(script{Record: s.record, Behaviours: behaviours})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.ConfigFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// Executable is the path of the program.
func (s *Stub) Executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Run is one run of a stub.
type Run struct {
	Environ []string
	Stdin   string
	PID     int
	Child   int
}

// Runs returns the runs so far.
func (s *Stub) Runs(t testing.TB) []Run {
	t.Helper()
	data, err := os.ReadFile(s.record)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var runs []Run
	for line := range strings.Lines(string(data)) {
		var r Run
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

// childMark is the argument that makes the binary a child of a stub.
const childMark = "providertest-child"

// Main runs the tests of m, or behaves as a stub when the process was started as a provider program. It returns the
// exit code.
func Main(m interface{ Run() int }) int {
	if len(os.Args) == 3 && os.Args[1] == childMark {
		life, _ := time.ParseDuration(os.Args[2])
		time.Sleep(life)
		return 0
	}
	command := provider.Command(os.Getenv(provider.EnvCommand))
	if command == "" {
		return m.Run()
	}
	return behave(command)
}

func behave(command provider.Command) int {
	data, err := os.ReadFile(os.Getenv(provider.EnvConfigFile))
	if err != nil {
		return 99
	}
	var s script
	if err := json.Unmarshal(data, &s); err != nil {
		return 99
	}
	b := s.Behaviours[command]
	stdin, _ := io.ReadAll(os.Stdin)
	run := Run{Environ: os.Environ(), Stdin: string(stdin), PID: os.Getpid()}
	if life := max(b.Left, b.Sleep); b.Child || b.Left > 0 {
		child := exec.Command(os.Args[0], childMark, life.String()) //nolint:noctx // it is to outlive everything but a signal to the group
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if child.Start() == nil {
			run.Child = child.Process.Pid
		}
	}
	if err := remember(s.Record, run); err != nil {
		return 99
	}
	var bootstrap struct {
		Name  string `json:"name"`
		Token string `json:"instance-token"`
	}
	_ = json.Unmarshal(stdin, &bootstrap)
	fill := strings.NewReplacer("$NAME", bootstrap.Name, "$TOKEN", bootstrap.Token).Replace
	_, _ = io.WriteString(os.Stdout, fill(b.Stdout))
	_, _ = io.WriteString(os.Stderr, fill(b.Stderr)+strings.Repeat("x", b.StderrSize))
	time.Sleep(b.Sleep)
	return b.Exit
}

func remember(path string, run Run) error {
	line, err := json.Marshal(run)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errorOf(err, f.Close())
}

func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
