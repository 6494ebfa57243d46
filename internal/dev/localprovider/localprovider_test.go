package localprovider_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

const (
	controller    = "c0ffee00-0000-4000-8000-000000000001"
	pool          = "b0000000-0000-4000-8000-000000000001"
	instanceToken = "instance-token-31c4"
)

// host is a state folder with its configuration.
type host struct {
	state, config string
	controller    string
}

// newHost makes a state folder. runner is the bootstrap program; the default is one that only waits.
func newHost(t *testing.T, runner ...string) *host {
	t.Helper()
	if len(runner) == 0 {
		runner = []string{"/bin/sh", "-c", "exec sleep 300"}
	}
	h := &host{state: filepath.Join(t.TempDir(), "state"), controller: controller}
	h.config = filepath.Join(t.TempDir(), "provider.toml")
	command, err := json.Marshal(runner)
	if err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf("state_dir = %q\nrunner_command = %s\nagent_command = [%q, \"runner\"]\nstop_timeout = \"2s\"\n",
		h.state, command, built.Path("garm-dev"))
	if err := os.WriteFile(h.config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, of := range []string{controller, "other-controller"} {
			h.controller = of
			h.call(t, provider.Call{Command: provider.RemoveAllInstances}, "")
		}
	})
	return h
}

type outcome struct {
	code           int
	stdout, stderr string
}

// call runs the real program as GARM does: no arguments, nothing but the call in its environment.
func (h *host) call(t *testing.T, c provider.Call, stdin string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return h.callIn(ctx, t, c, stdin)
}

func (h *host) callIn(ctx context.Context, t *testing.T, c provider.Call, stdin string) outcome {
	t.Helper()
	c.ControllerID, c.ConfigFile = h.controller, h.config
	cmd := exec.CommandContext(ctx, built.Path("garm-dev"))
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Environ(), strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	result := outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if strings.Contains(result.stdout+result.stderr, instanceToken) {
		t.Errorf("%s shows the instance token: %+v", c.Command, result)
	}
	return result
}

func bootstrap(name string) provider.BootstrapInstance {
	return provider.BootstrapInstance{
		Name: name, PoolID: pool, Flavor: "small", Image: "ubuntu:24.04", OSType: "linux", OSArch: "amd64", InstanceToken: instanceToken,
		MetadataURL: "http://127.0.0.1:1/metadata", CallbackURL: "http://127.0.0.1:1/callbacks", RepoURL: "http://127.0.0.1:1/octo-org",
		JITConfigEnabled: true,
	}
}

func (h *host) create(t *testing.T, b provider.BootstrapInstance) outcome {
	t.Helper()
	data, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return h.call(t, provider.Call{Command: provider.CreateInstance, PoolID: b.PoolID}, string(data))
}

func (h *host) mustCreate(t *testing.T, name string) provider.Instance {
	t.Helper()
	made := h.create(t, bootstrap(name))
	if made.code != provider.ExitOK {
		t.Fatalf("create: %+v", made)
	}
	instance, err := provider.DecodeInstance([]byte(made.stdout))
	if err != nil {
		t.Fatal(err)
	}
	return instance
}

func (h *host) onInstance(t *testing.T, command provider.Command, id string) outcome {
	t.Helper()
	return h.call(t, provider.Call{Command: command, InstanceID: id}, "")
}

func (h *host) list(t *testing.T) []provider.Instance {
	t.Helper()
	listed := h.call(t, provider.Call{Command: provider.ListInstances, PoolID: pool}, "")
	list, err := provider.DecodeInstances([]byte(listed.stdout))
	if err != nil {
		t.Fatalf("list: %+v: %v", listed, err)
	}
	return list
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20s", what)
		}
	}
}

// server is a GARM server as far as machines see it, with one just-in-time configuration.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	files    runnerapi.Files
	token    string
	statuses []garm.StatusUpdate
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+instanceToken {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch r.URL.Path {
	case "/callbacks/status":
		var update garm.StatusUpdate
		_ = json.NewDecoder(r.Body).Decode(&update)
		s.statuses = append(s.statuses, update)
	case "/metadata/runner-registration-token":
		_, _ = io.WriteString(w, s.token)
	default:
		if name, found := strings.CutPrefix(r.URL.Path, "/metadata/credentials/"); found {
			_, _ = w.Write(s.files["."+name])
		}
	}
}

func (s *server) last() garm.StatusUpdate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.statuses) == 0 {
		return garm.StatusUpdate{}
	}
	return s.statuses[len(s.statuses)-1]
}

// TestRunnerFromCreateToDelete goes the whole way: GitHub simulator, provider, bootstrap program and simulated runner.
func TestRunnerFromCreateToDelete(t *testing.T) {
	for name, jit := range map[string]bool{"by just-in-time configuration": true, "by registration token": false} {
		t.Run(name, func(t *testing.T) {
			forge := githubsim.New(githubsim.Options{})
			if err := forge.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(forge.Close)
			gh, err := github.NewClient(github.WithAuthToken("any"), github.WithEnterpriseURLs(forge.URL(), forge.URL()))
			if err != nil {
				t.Fatal(err)
			}
			s := newServer(t)
			b := bootstrap("garm-one")
			b.MetadataURL, b.CallbackURL, b.RepoURL, b.JITConfigEnabled = s.URL+"/metadata", s.URL+"/callbacks", forge.URL()+"/octo-org", jit
			if jit {
				config, _, err := gh.Actions.GenerateOrgJITConfig(t.Context(), "octo-org",
					&github.GenerateJITConfigRequest{Name: b.Name, RunnerGroupID: 1, Labels: []string{"small"}})
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := base64.StdEncoding.DecodeString(config.GetEncodedJITConfig())
				if err := json.Unmarshal(raw, &s.files); err != nil {
					t.Fatal(err)
				}
			} else {
				token, _, err := gh.Actions.CreateOrganizationRegistrationToken(t.Context(), "octo-org")
				if err != nil {
					t.Fatal(err)
				}
				s.token, b.Labels = token.GetToken(), []string{"small"}
			}
			h := newHost(t, built.Path("garm-runner"))
			if made := h.create(t, b); made.code != provider.ExitOK {
				t.Fatalf("create: %+v", made)
			}
			eventually(t, "the runner is idle", func() bool { return s.last().Status == garm.RunnerIdle })
			runner := forge.Runners("")[0]
			if update := s.last(); update.AgentID == nil || *update.AgentID != runner.ID || !runner.Online {
				t.Errorf("reported %+v, GitHub has %+v", update, runner)
			}
			job, err := forge.QueueJob(githubsim.JobSpec{Repo: "octo-org/road-map", Labels: []string{"small"}})
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the job is done", func() bool {
				got, _ := forge.Job(job.ID)
				return got.Status == githubsim.Completed && got.Conclusion == "success"
			})
			eventually(t, "the process has ended", func() bool { return h.list(t)[0].Status == provider.StatusStopped })
			if gone := h.onInstance(t, provider.DeleteInstance, "local-garm-one"); gone.code != provider.ExitOK {
				t.Errorf("delete: %+v", gone)
			}
			if left := h.list(t); len(left) != 0 {
				t.Errorf("machines left: %+v", left)
			}
			if runners := forge.Runners(""); len(runners) != 0 {
				t.Errorf("runners left: %+v", runners)
			}
		})
	}
}

func TestCreateIsIdempotent(t *testing.T) {
	h := newHost(t)
	first := h.mustCreate(t, "garm-one")
	pid := h.pid(t, "garm-one")
	second := h.mustCreate(t, "garm-one")
	if first.ProviderID != second.ProviderID || second.Status != provider.StatusRunning || h.pid(t, "garm-one") != pid {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if list := h.list(t); len(list) != 1 {
		t.Errorf("%d machines", len(list))
	}
	other := bootstrap("garm-one")
	other.PoolID = "b0000000-0000-4000-8000-000000000002"
	if got := h.create(t, other); got.code != provider.ExitDuplicate {
		t.Errorf("the same name in another pool: %+v", got)
	}
}

func TestConcurrentCreatesMakeOneMachine(t *testing.T) {
	h := newHost(t, "/bin/sh", "-c", `echo started >>../starts; exec sleep 300`)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if got := h.create(t, bootstrap("garm-one")); got.code != provider.ExitOK {
				t.Errorf("create: %+v", got)
			}
		})
	}
	group.Wait()
	starts := func() string {
		data, _ := os.ReadFile(filepath.Join(h.state, "garm-one", "starts"))
		return string(data)
	}
	eventually(t, "the process runs", func() bool { return starts() != "" })
	if got := starts(); got != "started\n" {
		t.Errorf("starts: %q", got)
	}
}

func (h *host) pid(t *testing.T, name string) string {
	t.Helper()
	var data []byte
	eventually(t, "the process id is written", func() bool {
		var err error
		data, err = os.ReadFile(filepath.Join(h.state, name, "pid"))
		return err == nil
	})
	return strings.TrimSpace(string(data))
}

func TestDeleteEndsTheWholeProcessGroup(t *testing.T) {
	// A stubborn process with a child of its own: only SIGKILL of the group ends both.
	h := newHost(t, "/bin/sh", "-c", `trap '' TERM; sh -c 'trap "" TERM; echo $$ >../child; while :; do sleep 1; done' & while :; do sleep 1; done`)
	h.mustCreate(t, "garm-one")
	eventually(t, "the child runs", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.state, "garm-one", "child"))
		return len(data) > 0
	})
	child, _ := os.ReadFile(filepath.Join(h.state, "garm-one", "child"))
	if gone := h.onInstance(t, provider.DeleteInstance, "garm-one"); gone.code != provider.ExitOK {
		t.Fatalf("delete: %+v", gone)
	}
	if pid := strings.TrimSpace(string(child)); running(pid) {
		t.Errorf("process %s still runs", pid)
	}
	if _, err := os.Stat(filepath.Join(h.state, "garm-one")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	t.Run("SV-39 a machine that is gone", func(t *testing.T) {
		if again := h.onInstance(t, provider.DeleteInstance, "garm-one"); again.code != provider.ExitNotFound {
			t.Errorf("second delete: %+v, want exit code 30", again)
		}
	})
}

// running says whether a process exists and is no zombie that waits for its parent.
func running(pid string) bool {
	out, err := exec.CommandContext(context.Background(), "ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestStopAndStart(t *testing.T) {
	h := newHost(t)
	h.mustCreate(t, "garm-one")
	for range 2 { // both are idempotent
		if got := h.onInstance(t, provider.StopInstance, "garm-one"); got.code != provider.ExitOK {
			t.Fatalf("stop: %+v", got)
		}
	}
	if got := h.list(t)[0].Status; got != provider.StatusStopped {
		t.Errorf("status after stop: %s", got)
	}
	for range 2 {
		if got := h.onInstance(t, provider.StartInstance, "local-garm-one"); got.code != provider.ExitOK {
			t.Fatalf("start: %+v", got)
		}
	}
	got := h.onInstance(t, provider.GetInstance, "garm-one")
	if instance, err := provider.DecodeInstance([]byte(got.stdout)); err != nil || instance.Status != provider.StatusRunning {
		t.Errorf("get: %+v %v", got, err)
	}
}

func TestControllersAndPoolsAreKeptApart(t *testing.T) {
	h := newHost(t)
	h.mustCreate(t, "garm-one")
	h.controller = "other-controller"
	if list := h.list(t); len(list) != 0 {
		t.Errorf("another controller sees %+v", list)
	}
	if got := h.onInstance(t, provider.DeleteInstance, "garm-one"); got.code != provider.ExitNotFound {
		t.Errorf("another controller deletes: %+v", got)
	}
	h.mustCreate(t, "garm-two")
	if got := h.call(t, provider.Call{Command: provider.RemoveAllInstances}, ""); got.code != provider.ExitOK {
		t.Fatalf("remove all: %+v", got)
	}
	if list := h.list(t); len(list) != 0 {
		t.Errorf("left of the other controller: %+v", list)
	}
	h.controller = controller
	if list := h.list(t); len(list) != 1 || list[0].Name != "garm-one" {
		t.Errorf("left of the first controller: %+v", list)
	}
	elsewhere := h.call(t, provider.Call{Command: provider.ListInstances, PoolID: "b0000000-0000-4000-8000-000000000002"}, "")
	if strings.TrimSpace(elsewhere.stdout) != "[]" {
		t.Errorf("another pool has %s", elsewhere.stdout)
	}
}

func TestFaults(t *testing.T) {
	h := newHost(t)
	with := func(name, flavor, specs string) outcome {
		b := bootstrap(name)
		b.Flavor, b.ExtraSpecs = flavor, json.RawMessage(specs)
		return h.create(t, b)
	}
	if got := with("broken", "broken", `{}`); got.code != provider.ExitFailure || !strings.Contains(got.stderr, "no capacity for flavor broken") {
		t.Errorf("broken: %+v", got)
	}
	if got := with("twice", "small", `{"fault":"duplicate"}`); got.code != provider.ExitDuplicate {
		t.Errorf("duplicate: %+v", got)
	}
	if list := h.list(t); len(list) != 0 {
		t.Errorf("failed creates made %+v", list)
	}
	if got := with("pending", "small", `{"fault":"pending_create"}`); !errors.Is(decode(got), provider.ErrBadAnswer) {
		t.Errorf("pending_create: %+v", got)
	}
	if got := with("nameless", "small", `{"fault":"no_id"}`); !errors.Is(decode(got), provider.ErrBadAnswer) {
		t.Errorf("no_id: %+v", got)
	}
	if got := with("ill", "small", `{"fault":"error"}`); got.code != provider.ExitOK || !strings.Contains(got.stdout, `"status":"error"`) {
		t.Errorf("error: %+v", got)
	}
	if got := with("odd", "small", `{"fault":"gremlins"}`); got.code != provider.ExitFailure || !strings.Contains(got.stderr, "gremlins") {
		t.Errorf("unknown fault: %+v", got)
	}
	if list := h.list(t); len(list) != 3 {
		t.Errorf("%d machines, want the three whose answers were spoilt", len(list))
	}
	t.Run("hang", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		b := bootstrap("hanging")
		b.Flavor = "hang"
		data, _ := json.Marshal(b)
		if got := h.callIn(ctx, t, provider.Call{Command: provider.CreateInstance, PoolID: pool}, string(data)); got.code == provider.ExitOK {
			t.Errorf("it came back: %+v", got)
		}
	})
}

func decode(o outcome) error {
	_, err := provider.DecodeInstance([]byte(o.stdout))
	return err
}

func TestSecretsOnDisk(t *testing.T) {
	h := newHost(t, "/bin/sh", "-c", `echo "$*" >../seen; env >>../seen; exec sleep 300`, "runner")
	h.mustCreate(t, "garm-one")
	dir := filepath.Join(h.state, "garm-one")
	eventually(t, "the process runs", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "seen"))
		return strings.Contains(string(data), "METADATA_URL=http://127.0.0.1:1/metadata")
	})
	seen, _ := os.ReadFile(filepath.Join(dir, "seen"))
	if strings.Contains(string(seen), instanceToken) {
		t.Errorf("the token is on the command line or in the environment:\n%s", seen)
	}
	for _, name := range []string{"token", "bootstrap.json"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}

func TestBadCalls(t *testing.T) {
	h := newHost(t)
	for name, got := range map[string]outcome{
		"unknown command":              h.call(t, provider.Call{Command: "Dance"}, ""),
		"empty stdin":                  h.call(t, provider.Call{Command: provider.CreateInstance, PoolID: pool}, ""),
		"name that leads elsewhere":    h.create(t, bootstrap("../../elsewhere")),
		"id that leads elsewhere":      h.onInstance(t, provider.DeleteInstance, "../state"),
		"no instance":                  h.onInstance(t, provider.DeleteInstance, ""),
		"v0.1.1 delete without a pool": h.call(t, provider.Call{Command: provider.DeleteInstance, InstanceID: "x", Version: provider.Version011}, ""),
	} {
		if got.code != provider.ExitFailure || got.stderr == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := h.call(t, provider.Call{Command: provider.GetVersion}, ""); got.code != 0 || got.stdout != "v0.1.0\n" {
		t.Errorf("version: %+v", got)
	}
}
