package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	protocol "github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/provider"
	"github.com/garm-operator/garm-operator/internal/server/provider/providertest"
)

const (
	token    = "sentinel-instance-token"
	goodJSON = `{"provider_id":"id-$NAME","name":"$NAME","status":"running","os_name":"debian","addresses":[{"address":"10.0.0.1","type":"private"}],"extra":1}`
)

var pool = model.Pool{
	ID: "pool-1", ProviderName: "stub", Image: "img", Flavor: "small", OSType: model.Linux, OSArch: model.AMD64,
	RunnerGroup: "group", ExtraSpecs: json.RawMessage(`{"a":1}`), BootstrapTimeout: time.Minute,
}

var boot = fleet.Bootstrap{
	Name: "garm-abc", RepoURL: "https://github.com/acme", CallbackURL: "https://garm/callbacks", MetadataURL: "https://garm/metadata",
	Token: token, Labels: []string{"linux"}, CACerts: []byte("PEM"), Tools: []fleet.Tool{{OS: "linux", Architecture: "x64", TempToken: "sentinel-temp-token"}},
}

func open(t *testing.T, stub *providertest.Stub, change func(c *provider.Config)) *provider.External {
	t.Helper()
	c := provider.Config{Name: "stub", Executable: stub.Executable(t), ConfigFile: stub.ConfigFile, Controller: "controller-1"}
	if change != nil {
		change(&c)
	}
	p, err := provider.New(c, []string{"HTTP_PROXY=p", "HTTP=h", "GARM_SECRET=x", "GARMX=x", "HOME=/root", "XHTTP=x"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func answering(t *testing.T, b providertest.Behaviour) *providertest.Stub {
	t.Helper()
	return providertest.New(t, map[protocol.Command]providertest.Behaviour{
		protocol.CreateInstance: b, protocol.DeleteInstance: b, protocol.ListInstances: b,
	})
}

func fault(t *testing.T, err error) *fleet.ProviderError {
	t.Helper()
	var failed *fleet.ProviderError
	if !errors.As(err, &failed) {
		t.Fatalf("error %v is no provider error", err)
	}
	return failed
}

func TestCreate(t *testing.T) {
	stub := answering(t, providertest.Behaviour{Stdout: goodJSON, Stderr: "noise"})
	m, err := open(t, stub, nil).Create(t.Context(), pool, boot)
	if err != nil {
		t.Fatal(err)
	}
	want := fleet.Machine{
		ProviderID: "id-garm-abc", Name: "garm-abc", OSName: "debian", Status: model.InstanceRunning,
		Addresses: []model.Address{{Address: "10.0.0.1", Type: "private"}}, Fault: []byte{},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	var sent map[string]any
	if err := json.Unmarshal([]byte(stub.Runs(t)[0].Stdin), &sent); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"name": "garm-abc", "instance-token": token, "pool_id": "pool-1", "arch": "amd64", "os_type": "linux", "image": "img", "flavor": "small",
		"github-runner-group": "group", "ca-cert-bundle": "UEVN", "jit_config_enabled": false, "repo_url": "https://github.com/acme",
	} {
		if sent[key] != want {
			t.Errorf("bootstrap %s = %v, want %v", key, sent[key], want)
		}
	}
	for _, list := range []string{"tools", "ssh-keys", "labels"} {
		if _, ok := sent[list].([]any); !ok {
			t.Errorf("bootstrap %s is %v, not a list", list, sent[list])
		}
	}
}

func TestEnvironment(t *testing.T) {
	tests := []struct {
		version protocol.Version
		create  []string
		remove  []string
	}{
		{
			version: "",
			create:  []string{"GARM_COMMAND=CreateInstance", "GARM_CONTROLLER_ID=controller-1", "GARM_POOL_ID=pool-1"},
			remove:  []string{"GARM_COMMAND=DeleteInstance", "GARM_CONTROLLER_ID=controller-1", "GARM_INSTANCE_ID=id-1"},
		},
		{
			version: protocol.Version011,
			create:  []string{"GARM_COMMAND=CreateInstance", "GARM_CONTROLLER_ID=controller-1", "GARM_INTERFACE_VERSION=v0.1.1", "GARM_POOL_EXTRASPECS=eyJhIjoxfQ==", "GARM_POOL_ID=pool-1"},
			remove:  []string{"GARM_COMMAND=DeleteInstance", "GARM_CONTROLLER_ID=controller-1", "GARM_INSTANCE_ID=id-1", "GARM_INTERFACE_VERSION=v0.1.1", "GARM_POOL_EXTRASPECS=eyJhIjoxfQ==", "GARM_POOL_ID=pool-1"},
		},
	}
	for _, test := range tests {
		t.Run("interface "+string(test.version), func(t *testing.T) {
			stub := answering(t, providertest.Behaviour{Stdout: goodJSON})
			p := open(t, stub, func(c *provider.Config) { c.Version, c.Environment = test.version, []string{"HTTP", "GARM", ""} })
			if _, err := p.Create(t.Context(), pool, boot); err != nil {
				t.Fatal(err)
			}
			if err := p.Delete(t.Context(), pool, "id-1"); err != nil {
				t.Fatal(err)
			}
			common := []string{"GARM_PROVIDER_CONFIG_FILE=" + stub.ConfigFile, "HTTP=h", "HTTP_PROXY=p"}
			for i, want := range [][]string{test.create, test.remove} {
				got := stub.Runs(t)[i].Environ
				slices.Sort(got)
				want = append(slices.Clone(want), common...)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("environment of run %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestSV37AnswersAreChecked(t *testing.T) {
	for _, status := range []string{"pending_create", "creating", "", "foo", "Running", "deleted"} {
		stub := answering(t, providertest.Behaviour{Stdout: `{"provider_id":"i","name":"n","status":"` + status + `"}`})
		_, err := open(t, stub, nil).Create(t.Context(), pool, boot)
		if got := fault(t, err); got.Kind != fleet.ProviderBadAnswer || got.ProviderID != "i" || !strings.Contains(got.Fault, "invalid status") {
			t.Errorf("status %q: %+v", status, got)
		}
	}
	for _, status := range []string{"running", "stopped", "error", "unknown"} {
		stub := answering(t, providertest.Behaviour{Stdout: `{"provider_id":"i","name":"n","status":"` + status + `"}`})
		if m, err := open(t, stub, nil).Create(t.Context(), pool, boot); err != nil || string(m.Status) != status {
			t.Errorf("status %q: %+v, %v", status, m, err)
		}
	}
	for _, answer := range []string{"", "{", "[]", `{"name":"n","status":"running"}`} {
		_, err := open(t, answering(t, providertest.Behaviour{Stdout: answer}), nil).Create(t.Context(), pool, boot)
		if fault(t, err).Kind != fleet.ProviderBadAnswer {
			t.Errorf("answer %q: %v", answer, err)
		}
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestSV38HangingProviderIsKilledWithItsChildren(t *testing.T) {
	stub := answering(t, providertest.Behaviour{Child: true, Sleep: time.Hour, Stderr: "still at it"})
	p := open(t, stub, func(c *provider.Config) { c.Timeout = 3 * time.Second })
	_, err := p.Create(t.Context(), pool, boot)
	got := fault(t, err)
	if got.Kind != fleet.ProviderTimeout || !strings.Contains(got.Fault, "killed after") || !strings.Contains(got.Fault, "still at it") {
		t.Errorf("error %+v", got)
	}
	run := stub.Runs(t)[0]
	if run.Child == 0 {
		t.Fatal("the stub started no child")
	}
	deadline := time.Now().Add(5 * time.Second)
	for alive(run.PID) || alive(run.Child) && !zombie(run.Child) {
		if time.Now().After(deadline) {
			t.Fatalf("provider alive: %v, its child alive: %v", alive(run.PID), alive(run.Child))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A machine that is a process of its own may inherit the provider's output; nobody waits for its end.
func TestProviderMayLeaveAProcess(t *testing.T) {
	stub := answering(t, providertest.Behaviour{Stdout: goodJSON, Left: time.Hour})
	t.Cleanup(func() { _ = syscall.Kill(stub.Runs(t)[0].Child, syscall.SIGKILL) })
	started := time.Now()
	m, err := open(t, stub, nil).Create(t.Context(), pool, boot)
	if err != nil || m.ProviderID != "id-garm-abc" {
		t.Errorf("machine %+v, error %v", m, err)
	}
	if took := time.Since(started); took > 30*time.Second { // the time-out is a minute
		t.Errorf("it took %s", took)
	}
}

// Not more runs than are allowed are under way at once, and each makes room for the next.
func TestRunsAtOnce(t *testing.T) {
	stub := answering(t, providertest.Behaviour{Sleep: time.Hour})
	p := open(t, stub, func(c *provider.Config) { c.Concurrency = 1 })
	for i := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Delete(ctx, pool, "x") }()
		for deadline := time.Now().Add(time.Minute); len(stub.Runs(t)) <= i; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("run %d is not started", i+1)
			}
		}
		short, giveUp := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if got := fault(t, p.Delete(short, pool, "y")); !strings.Contains(got.Fault, "not started") {
			t.Errorf("a second run at once: %+v", got)
		}
		giveUp()
		cancel()
		<-done
	}
	if n := len(stub.Runs(t)); n != 2 {
		t.Errorf("%d runs were started, want 2", n)
	}
}

// zombie says whether a process is dead and waits for init, which a container may not have.
func zombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "stat"))
	return err == nil && strings.Contains(string(data), ") Z ")
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestStoppingTheServerKillsTheProvider(t *testing.T) {
	stub := answering(t, providertest.Behaviour{Sleep: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	err := open(t, stub, nil).Delete(ctx, pool, "x")
	if got := fault(t, err); got.Kind != fleet.ProviderTimeout {
		t.Errorf("error %+v", got)
	}
}

func TestSV39ExitCodes(t *testing.T) {
	for code, want := range map[int]fleet.ProviderErrorKind{
		1: fleet.ProviderFailed, 2: fleet.ProviderFailed, 30: fleet.ProviderNotFound, 31: fleet.ProviderDuplicate,
	} {
		p := open(t, answering(t, providertest.Behaviour{Exit: code, Stderr: "because"}), nil)
		_, err := p.Create(t.Context(), pool, boot)
		if got := fault(t, err); got.Kind != want || !strings.Contains(got.Fault, "because") {
			t.Errorf("create, exit %d: %+v", code, got)
		}
		err = p.Delete(t.Context(), pool, "x")
		if (err == nil) != (code == 30) {
			t.Errorf("delete, exit %d: %v", code, err)
		}
	}
}

func TestSecretsStayOutOfFaults(t *testing.T) {
	for _, b := range []providertest.Behaviour{
		{Exit: 1, Stderr: "curl -H 'Bearer $TOKEN' sentinel-temp-token failed"},
		{Exit: 1, Stdout: "curl -H 'Bearer $TOKEN' failed"},
		{Exit: 1, Stderr: "$TOKEN", StderrSize: 1 << 20},
		{Stdout: "$TOKEN"},
		{Stdout: `{"provider_id":"i","name":"n","status":"$TOKEN"}`},
		{Stderr: "$TOKEN", Sleep: time.Hour},
	} {
		p := open(t, answering(t, b), func(c *provider.Config) { c.Timeout = 2 * time.Second })
		_, err := p.Create(t.Context(), pool, boot)
		got := fault(t, err)
		if text := err.Error() + got.Fault; strings.Contains(text, "sentinel") || len(got.Fault) > 5000 {
			t.Errorf("%+v: fault of %d bytes: %.200s", b, len(got.Fault), text)
		}
	}
}

func TestList(t *testing.T) {
	p := open(t, answering(t, providertest.Behaviour{Stdout: `[{"provider_id":"i","name":"n","status":"stopped"}]`}), nil)
	list, err := p.List(t.Context(), pool)
	if err != nil || len(list) != 1 || list[0].Status != model.InstanceStopped {
		t.Errorf("%+v, %v", list, err)
	}
	p = open(t, answering(t, providertest.Behaviour{Stdout: `[{"provider_id":"i","name":"n","status":"pending_create"}]`}), nil)
	if _, err := p.List(t.Context(), pool); fault(t, err).Kind != fleet.ProviderBadAnswer {
		t.Errorf("%v", err)
	}
}

func TestAnswerThatIsTooLong(t *testing.T) {
	p := open(t, answering(t, providertest.Behaviour{Stdout: strings.Repeat(" ", 5<<20) + goodJSON}), nil)
	_, err := p.Create(t.Context(), pool, boot)
	if got := fault(t, err); got.Kind != fleet.ProviderBadAnswer || !strings.Contains(got.Fault, "longer than") {
		t.Errorf("%+v", got)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	legacy := filepath.Join(dir, provider.LegacyProgram)
	if err := os.WriteFile(legacy, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for want, configs := range map[string][]provider.Config{
		"provider_executable": {{Name: "a", Executable: "relative"}},
		"no such file":        {{Name: "a", Executable: filepath.Join(dir, "none")}},
		"not an executable":   {{Name: "a", Executable: plain}},
		"interface_version":   {{Name: "a", Executable: legacy, Version: "v0.2.0"}},
		"provider_dir":        {{Name: "a", Dir: t.TempDir()}},
		"twice":               {{Name: "a", Dir: dir}, {Name: "a", Dir: dir}},
	} {
		if _, err := provider.NewSet(configs, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
	set, err := provider.NewSet([]provider.Config{{Name: "old", Dir: dir, DisableJIT: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := set.Provider("old"); !ok || !p.DisablesJIT() {
		t.Error("the provider of a folder is not found")
	}
	if p, ok := set.Provider("new"); ok || p != nil {
		t.Error("a provider that is not configured is found")
	}
}
