package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// fake answers with what it was made with and remembers what it was asked.
type fake struct {
	instance provider.Instance
	list     []provider.Instance
	err      error
	asked    []string
	got      provider.BootstrapInstance
}

func (f *fake) ask(format string, args ...any) {
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *fake) CreateInstance(_ context.Context, b provider.BootstrapInstance) (provider.Instance, error) {
	f.ask("create %s", b.Name)
	f.got = b
	return f.instance, f.err
}

func (f *fake) DeleteInstance(_ context.Context, id string) error {
	f.ask("delete %s", id)
	return f.err
}

func (f *fake) GetInstance(_ context.Context, id string) (provider.Instance, error) {
	f.ask("get %s", id)
	return f.instance, f.err
}

func (f *fake) ListInstances(_ context.Context, poolID string) ([]provider.Instance, error) {
	f.ask("list %s", poolID)
	return f.list, f.err
}

func (f *fake) StartInstance(_ context.Context, id string) error {
	f.ask("start %s", id)
	return f.err
}

func (f *fake) StopInstance(_ context.Context, id string) error {
	f.ask("stop %s", id)
	return f.err
}

func (f *fake) RemoveAllInstances(context.Context) error {
	f.ask("remove all")
	return f.err
}

func (f *fake) Version() string { return "v1.2.3" }

// serve runs a call against a provider and returns exit code, standard output and standard error.
func serve(f *fake, env map[string]string, stdin string) (int, string, string) {
	var stdout, stderr bytes.Buffer
	code := provider.Serve(context.Background(), func(name string) string { return env[name] }, strings.NewReader(stdin), &stdout, &stderr,
		func(provider.Call) (provider.Provider, error) { return f, nil })
	return code, stdout.String(), stderr.String()
}

// environ is a call as the map that a program sees.
func environ(c provider.Call) map[string]string {
	env := map[string]string{}
	for _, entry := range c.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

var machine = provider.Instance{ProviderID: "vm-1", Name: "one", Status: provider.StatusRunning, Addresses: []provider.Address{{Address: "192.0.2.10", Type: "private"}}}

const bootstrapJSON = `{"name":"one","pool_id":"p","instance-token":"secret-1","image":"i","flavor":"f","os_type":"linux","arch":"amd64","later-key":1}`

func TestServe(t *testing.T) {
	base := provider.Call{ControllerID: "c", ConfigFile: "/etc/p.toml", PoolID: "p", InstanceID: "vm-1"}
	for _, version := range provider.Versions() {
		for command, tc := range map[provider.Command]struct{ asked, stdout string }{
			provider.CreateInstance:                {"create one", `"provider_id":"vm-1"`},
			provider.GetInstance:                   {"get vm-1", `"provider_id":"vm-1"`},
			provider.ListInstances:                 {"list p", `[]`},
			provider.DeleteInstance:                {"delete vm-1", ""},
			provider.StartInstance:                 {"start vm-1", ""},
			provider.StopInstance:                  {"stop vm-1", ""},
			provider.RemoveAllInstances:            {"remove all", ""},
			provider.GetVersion:                    {"", "v1.2.3\n"},
			provider.GetSupportedInterfaceVersions: {"", `["v0.1.0","v0.1.1"]`},
			provider.ValidatePoolInfo:              {"", ""},
		} {
			t.Run(string(version)+" "+string(command), func(t *testing.T) {
				call := base
				call.Command, call.Version = command, version
				f := &fake{instance: machine}
				code, stdout, stderr := serve(f, environ(call), bootstrapJSON)
				if code != provider.ExitOK || stderr != "" {
					t.Fatalf("exit code %d, stderr %q", code, stderr)
				}
				if got := strings.Join(f.asked, ","); got != tc.asked {
					t.Errorf("asked %q, want %q", got, tc.asked)
				}
				if !strings.Contains(stdout, tc.stdout) || tc.stdout == "" && stdout != "" {
					t.Errorf("stdout is %q, want %q", stdout, tc.stdout)
				}
			})
		}
	}
}

func TestExitCodes(t *testing.T) {
	call := provider.Call{Command: provider.DeleteInstance, ControllerID: "c", InstanceID: "vm-1"}
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{fmt.Errorf("looking: %w", provider.ErrNotFound), 30},
		{fmt.Errorf("making: %w", provider.ErrDuplicate), 31},
		{errors.New("anything else"), 1},
	} {
		t.Run(fmt.Sprintf("SV-39 %v", tc.err), func(t *testing.T) {
			code, stdout, stderr := serve(&fake{err: tc.err}, environ(call), "")
			if code != tc.want || stdout != "" || (tc.err != nil) != (stderr != "") {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func TestBootstrapReachesTheProvider(t *testing.T) {
	f := &fake{instance: machine}
	call := provider.Call{Command: provider.CreateInstance, ControllerID: "c", PoolID: "p"}
	if code, _, stderr := serve(f, environ(call), bootstrapJSON); code != 0 {
		t.Fatal(stderr)
	}
	want := provider.BootstrapInstance{
		Name: "one", PoolID: "p", InstanceToken: "secret-1", Image: "i", Flavor: "f", OSType: "linux", OSArch: "amd64",
		ExtraSpecs: json.RawMessage(`{}`),
	}
	if diff := cmp.Diff(want, f.got); diff != "" {
		t.Errorf("bootstrap (-want +got):\n%s", diff)
	}
}

func TestBadCallsNameWhatIsWrong(t *testing.T) {
	good := func(command, version string) map[string]string {
		return map[string]string{
			"GARM_COMMAND": command, "GARM_CONTROLLER_ID": "c", "GARM_PROVIDER_CONFIG_FILE": "/f", "GARM_POOL_ID": "p", "GARM_INSTANCE_ID": "i",
			"GARM_INTERFACE_VERSION": version,
		}
	}
	for _, tc := range []struct{ command, version, variable, value, want string }{
		{"CreateInstance", "", "GARM_COMMAND", "", "GARM_COMMAND"},
		{"CreateInstance", "", "GARM_COMMAND", "Dance", "GARM_COMMAND"},
		{"CreateInstance", "", "GARM_INTERFACE_VERSION", "v9", "GARM_INTERFACE_VERSION"},
		{"CreateInstance", "", "GARM_POOL_ID", "", "GARM_POOL_ID"},
		{"CreateInstance", "", "GARM_POOL_ID", "other", "GARM_POOL_ID"},
		{"DeleteInstance", "", "GARM_INSTANCE_ID", "", "GARM_INSTANCE_ID"},
		{"DeleteInstance", "", "GARM_CONTROLLER_ID", "", "GARM_CONTROLLER_ID"},
		{"DeleteInstance", "v0.1.1", "GARM_POOL_ID", "", "GARM_POOL_ID"},
		{"StopInstance", "v0.1.1", "GARM_PROVIDER_CONFIG_FILE", "", "GARM_PROVIDER_CONFIG_FILE"},
		{"DeleteInstance", "v0.1.1", "GARM_POOL_EXTRASPECS", "%", "GARM_POOL_EXTRASPECS"},
		{"DeleteInstance", "v0.1.1", "GARM_POOL_EXTRASPECS", "e30x", "GARM_POOL_EXTRASPECS"},
		{"GetConfigJSONSchema", "v0.1.1", "GARM_INSTANCE_ID", "", "not supported"},
	} {
		t.Run(tc.command+" "+tc.version+" "+tc.variable+"="+tc.value, func(t *testing.T) {
			env := good(tc.command, tc.version)
			env[tc.variable] = tc.value
			f := &fake{instance: machine}
			code, stdout, stderr := serve(f, env, bootstrapJSON)
			if code != provider.ExitFailure || stdout != "" || !strings.Contains(stderr, tc.want) || len(f.asked) > 0 {
				t.Errorf("code %d, stdout %q, stderr %q, asked %v", code, stdout, stderr, f.asked)
			}
		})
	}
	t.Run("v0.1.0 delete needs no pool", func(t *testing.T) {
		env := good("DeleteInstance", "")
		delete(env, "GARM_POOL_ID")
		if code, _, stderr := serve(&fake{}, env, ""); code != 0 {
			t.Error(stderr)
		}
	})
}

func TestBadBootstrapIsRefusedWithoutShowingIt(t *testing.T) {
	env := environ(provider.Call{Command: provider.CreateInstance, ControllerID: "c", PoolID: "p"})
	for _, stdin := range []string{
		"", " ", "[]", `{"name":7}`, `{"pool_id":"p"}`, `{"name":"one"}`, `{"name":"one","pool_id":"p"`,
		`{"name":"one","pool_id":"p","instance-token":["secret-1"]}`, strings.Repeat(" ", 9<<20) + bootstrapJSON,
	} {
		f := &fake{instance: machine}
		code, _, stderr := serve(f, env, stdin)
		if code != provider.ExitFailure || len(f.asked) > 0 || strings.Contains(stderr, "secret-1") {
			t.Errorf("%.60q: code %d, stderr %q", stdin, code, stderr)
		}
	}
}

func TestSV37OnlyFourStatusesAreAnAnswer(t *testing.T) {
	for status, good := range map[string]bool{
		"running": true, "stopped": true, "error": true, "unknown": true,
		"pending_create": false, "creating": false, "deleting": false, "deleted": false, "": false, "Running": false,
	} {
		_, err := provider.DecodeInstance([]byte(`{"provider_id":"i","name":"n","status":"` + status + `","more":{}}`))
		if (err == nil) != good || err != nil && !errors.Is(err, provider.ErrBadAnswer) {
			t.Errorf("%q: %v", status, err)
		}
	}
	for _, answer := range []string{"", "null", "{}", "x", `{"name":"n","status":"running"}`, `{"provider_id":"i","status":"running"}`} {
		if _, err := provider.DecodeInstance([]byte(answer)); !errors.Is(err, provider.ErrBadAnswer) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	if list, err := provider.DecodeInstances([]byte("null")); err != nil || len(list) != 0 {
		t.Errorf("null list: %v %v", list, err)
	}
	if _, err := provider.DecodeInstances([]byte(`[{"provider_id":"i","name":"n","status":"running"},{}]`)); !errors.Is(err, provider.ErrBadAnswer) {
		t.Errorf("list with a bad element: %v", err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	b := provider.BootstrapInstance{Name: "one", InstanceToken: "secret-1", Tools: []provider.Tool{{TempDownloadToken: "secret-1"}}}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "bootstrap", b, "token", b.InstanceToken)
	for _, shown := range []string{fmt.Sprint(b), fmt.Sprintf("%+v %#v %s %q %x", b, b, b.InstanceToken, b.InstanceToken, b.InstanceToken), log.String()} {
		if strings.Contains(shown, "secret-1") || strings.Contains(shown, fmt.Sprintf("%x", "secret-1")) {
			t.Errorf("printed: %s", shown)
		}
	}
	data, err := json.Marshal(b)
	if err != nil || !strings.Contains(string(data), "secret-1") {
		t.Errorf("the other side does not get the token: %s %v", data, err)
	}
}

// A call that a server describes is the call that the program reads.
func TestCallsTravel(t *testing.T) {
	commands := []provider.Command{
		provider.CreateInstance, provider.DeleteInstance, provider.GetInstance, provider.ListInstances, provider.StartInstance,
		provider.StopInstance, provider.RemoveAllInstances,
	}
	text := rapid.StringMatching(`[ -~]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		sent := provider.Call{
			Command: rapid.SampledFrom(commands).Draw(t, "command"), Version: rapid.SampledFrom(provider.Versions()).Draw(t, "version"),
			ControllerID: text.Draw(t, "controller"), ConfigFile: text.Draw(t, "config"), PoolID: text.Draw(t, "pool"), InstanceID: text.Draw(t, "instance"),
			ExtraSpecs: json.RawMessage(rapid.SampledFrom([]string{"", "{}", `{"a": [1, "ü"]}`, "null"}).Draw(t, "specs")),
		}
		env := environ(sent)
		got, err := provider.ParseCall(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		want := sent
		if sent.Command == provider.CreateInstance || sent.Command == provider.ListInstances || sent.Command == provider.RemoveAllInstances {
			want.InstanceID = ""
		}
		if sent.Version == provider.Version010 {
			want.ExtraSpecs = nil
			if sent.Command != provider.CreateInstance && sent.Command != provider.ListInstances {
				want.PoolID = ""
			}
		}
		if len(want.ExtraSpecs) == 0 {
			want.ExtraSpecs = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("call (-sent +read):\n%s", diff)
		}
	})
}

func FuzzDecodeBootstrap(f *testing.F) {
	f.Add([]byte(bootstrapJSON))
	f.Add([]byte(`{"name":"a","pool_id":"b","extra_specs":null,"tools":null,"ca-cert-bundle":"AA=="}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := provider.DecodeBootstrap(data)
		if err != nil {
			return
		}
		if b.Name == "" || b.PoolID == "" || !json.Valid(b.ExtraSpecs) {
			t.Errorf("accepted %+v", b)
		}
		again, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := provider.DecodeBootstrap(again); err != nil {
			t.Errorf("what was read cannot be read again: %v", err)
		}
	})
}

func FuzzDecodeInstances(f *testing.F) {
	f.Add([]byte(`[{"provider_id":"i","name":"n","status":"running","addresses":null,"provider_fault":"AA=="}]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := provider.DecodeInstances(data)
		if err != nil && !errors.Is(err, provider.ErrBadAnswer) {
			t.Errorf("error of another kind: %v", err)
		}
		for _, i := range list {
			if i.Validate() != nil {
				t.Errorf("accepted %+v", i)
			}
		}
	})
}
