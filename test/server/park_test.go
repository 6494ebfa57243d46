package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// park is an external provider whose machines are files, and which does what a test says.
type park struct{ folder string }

// behaviour is what the provider does.
type behaviour struct {
	// Answer is what CreateInstance prints, $NAME standing for the machine; a machine that runs by default.
	Answer string
	// CreateExit and DeleteExit are exit codes. A create with one has made the machine all the same, a delete has
	// removed nothing.
	CreateExit, DeleteExit int
	// CreateDelay comes after the machine was made, DeleteDelay before it is removed.
	CreateDelay, DeleteDelay time.Duration
	// Child makes CreateInstance start a process that lives for a day.
	Child bool
	// Echo makes CreateInstance print its input, secrets and all, as an error.
	Echo bool
}

// call is one run of the provider. Machines is how many there were at its end, Child the process that it started.
type call struct {
	Command  provider.Command
	Name     string
	Machines int
	PID      int
	Child    int
}

func newPark(t *testing.T, dir string) park {
	t.Helper()
	p := park{dir}
	if err := os.MkdirAll(p.machines(), 0o700); err != nil {
		t.Fatal(err)
	}
	p.behave(t, behaviour{})
	return p
}

func (p park) config() string { return filepath.Join(p.folder, "park.json") }

func (p park) machines() string { return filepath.Join(p.folder, "machines") }

func (p park) machine(name string) string { return filepath.Join(p.machines(), name+".json") }

func (p park) log() string { return filepath.Join(p.folder, "calls.jsonl") }

// behave says how calls from now on go.
func (p park) behave(t *testing.T, b behaviour) {
	t.Helper()
	data, err := json.Marshal(b)
	if err == nil {
		err = errors.Join(os.WriteFile(p.config()+".new", data, 0o600), os.Rename(p.config()+".new", p.config()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// script is the same provider as a shell script, without behaviours and without a log, for tests with many machines.
const script = `#!/bin/sh
cd "$(dirname "$GARM_PROVIDER_CONFIG_FILE")/machines" || exit 1
case $GARM_COMMAND in
CreateInstance)
	input=$(cat)
	name=$(printf %s "$input" | sed 's/^{"name":"\([^"]*\)".*/\1/')
	printf %s "$input" >"$name.json"
	printf '{"provider_id":"%s","name":"%s","os_type":"linux","os_arch":"amd64","status":"running"}' "$name" "$name" ;;
DeleteInstance)
	test -e "$GARM_INSTANCE_ID.json" || exit 30
	rm "$GARM_INSTANCE_ID.json" ;;
*) exit 1 ;;
esac
`

// writeScript writes the script and returns its path.
func (p park) writeScript(t *testing.T) string {
	t.Helper()
	path := filepath.Join(p.folder, "park.sh")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// names are the machines there are.
func (p park) names() []string {
	files, _ := filepath.Glob(filepath.Join(p.machines(), "*.json"))
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

// calls are the runs of a command so far.
func (p park) calls(t *testing.T, command provider.Command) []call {
	t.Helper()
	data, err := os.ReadFile(p.log())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var calls []call
	for line := range strings.Lines(string(data)) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.Command == command {
			calls = append(calls, c)
		}
	}
	return calls
}

// token is the instance token that a machine was given.
func (p park) token(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(p.machine(name))
	if err != nil {
		t.Fatal(err)
	}
	var b provider.BootstrapInstance
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	return string(b.InstanceToken)
}

// servePark runs one call as the provider program.
func servePark(getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	path := getenv(provider.EnvConfigFile)
	var b behaviour
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return provider.ExitFailure
	}
	p := park{filepath.Dir(path)}
	switch command := provider.Command(getenv(provider.EnvCommand)); command {
	case provider.CreateInstance:
		return p.create(b, stdin, stdout, stderr)
	case provider.DeleteInstance:
		return p.delete(b, getenv(provider.EnvInstanceID), stderr)
	case provider.ListInstances:
		return p.list(getenv(provider.EnvPoolID), stdout)
	default:
		fmt.Fprintln(stderr, "unknown command", command)
		return provider.ExitFailure
	}
}

func (p park) create(b behaviour, stdin io.Reader, stdout, stderr io.Writer) int {
	input, err := io.ReadAll(stdin)
	var wanted struct{ Name string }
	if err = errors.Join(err, json.Unmarshal(input, &wanted)); err != nil {
		fmt.Fprintln(stderr, err)
		return provider.ExitFailure
	}
	c := call{Command: provider.CreateInstance, Name: wanted.Name, PID: os.Getpid()}
	if b.Child {
		child := exec.Command("/bin/sleep", "86400") // only a signal to the group is to end it
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if child.Start() == nil {
			c.Child = child.Process.Pid
		}
	}
	if err := os.WriteFile(p.machine(wanted.Name), input, 0o600); err != nil {
		fmt.Fprintln(stderr, err)
		return provider.ExitFailure
	}
	p.note(c)
	time.Sleep(b.CreateDelay)
	if b.Echo {
		_, _ = stderr.Write(input)
	}
	if b.CreateExit != 0 {
		fmt.Fprintln(stderr, "no capacity left for this flavor")
		return b.CreateExit
	}
	answer := b.Answer
	if answer == "" {
		answer = running("$NAME")
	}
	_, _ = io.WriteString(stdout, strings.ReplaceAll(answer, "$NAME", wanted.Name))
	return 0
}

func running(name string) string {
	return fmt.Sprintf(`{"provider_id":%q,"name":%q,"os_type":"linux","os_arch":"amd64","status":"running"}`, name, name)
}

func (p park) delete(b behaviour, id string, stderr io.Writer) int {
	time.Sleep(b.DeleteDelay)
	defer func() { p.note(call{Command: provider.DeleteInstance, Name: id, PID: os.Getpid()}) }()
	if b.DeleteExit != 0 {
		fmt.Fprintln(stderr, "the machine cannot be removed")
		return b.DeleteExit
	}
	if err := os.Remove(p.machine(id)); errors.Is(err, fs.ErrNotExist) {
		return provider.ExitNotFound
	}
	return 0
}

func (p park) list(pool string, stdout io.Writer) int {
	list := []string{}
	for _, name := range p.names() {
		var made struct {
			PoolID string `json:"pool_id"`
		}
		data, err := os.ReadFile(p.machine(name))
		if err == nil && json.Unmarshal(data, &made) == nil && made.PoolID == pool {
			list = append(list, running(name))
		}
	}
	slices.Sort(list)
	_, _ = fmt.Fprintf(stdout, "[%s]", strings.Join(list, ","))
	return 0
}

// note remembers a call, in one write, so that calls at the same time do not mix.
func (p park) note(c call) {
	c.Machines = len(p.names())
	line, _ := json.Marshal(c)
	f, err := os.OpenFile(p.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}
