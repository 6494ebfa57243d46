package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/app/garm"
	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
)

const (
	jwtSecret     = "jwt-8uQ9-vT2x_Rk8pLw7-sentinel"
	passphrase    = "Pp7vXz2LpR9tKw4BnH8sYc3JdF6gTaE5"
	adminPassword = "pass-uQ9-vT2x_Rk8pLw7-sentinel"
	hookSecret    = "hook-uQ9-vT2x_Rk8pLw7-sentinel"
	token         = "ghp_sentinel4uQ9vT2xRk8pLw7"
)

// browser makes the calls of those who are not the operator.
var browser = &http.Client{Timeout: time.Minute}

// patience is how long a test waits for what has to come. Machines that test are slow and busy.
const patience = 4 * time.Minute

// world is a server with its forge, its provider and a client.
type world struct {
	t      *testing.T
	dir    string
	github *githubsim.Server
	park   park
	client *client.Client
	url    string
	log    *buffer
	server *garm.Server
}

// options say how a world differs from the usual.
type options struct {
	limits fleet.Limits
	github githubsim.Options
	// execTimeout is how many seconds the provider has.
	execTimeout int
	// app logs in at the forge instead of the token.
	app *wire.App
	// disableJIT makes runners register by token.
	disableJIT bool
	// script makes the provider a shell script.
	script bool
	// ca is what the endpoint trusts besides the system's certificates.
	ca []byte
	// webhooks lets the server install webhooks.
	webhooks bool
	// outside leaves the server to the test.
	outside bool
}

// newWorld starts a server that knows the endpoint "sim", its credentials "main" and the organization "acme".
func newWorld(t *testing.T, o options) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), log: &buffer{}}
	w.park = newPark(t, filepath.Join(w.dir, "park"))
	if o.github.Tokens == nil {
		o.github.Tokens = map[string]githubsim.Token{token: {Login: "robot"}}
	}
	w.github = githubsim.New(o.github)
	if err := w.github.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.github.Close)
	// One that nobody takes while the server is away.
	address, err := freeport.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + listener.Addr().String()
	config := w.configure(o, listener.Addr().(*net.TCPAddr).Port)
	if o.outside {
		_ = listener.Close()
	} else {
		w.serve(config, listener, o.limits)
	}
	w.client, err = client.New(client.Config{BaseURL: w.url, Username: "admin", Password: client.Password(adminPassword), Init: true, Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if !o.outside {
		w.setUp(o)
	}
	return w
}

// configFile is where the configuration of the server lies.
func (w *world) configFile() string { return filepath.Join(w.dir, "garm.toml") }

func (w *world) configure(o options, port int) *garmconfig.Config {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	if o.script {
		self = w.park.writeScript(w.t)
	}
	text := fmt.Sprintf(`
[default]
enable_webhook_management = %t
[logging]
log_level = "debug"
[metrics]
enable = true
disable_auth = true
[jwt_auth]
secret = %q
time_to_live = "24h"
[apiserver]
bind = "127.0.0.1"
port = %d
[database]
backend = "sqlite3"
passphrase = %q
[database.sqlite3]
db_file = %q
[[provider]]
name = "park"
provider_type = "external"
disable_jit_config = %t
description = "machines that are files"
[provider.external]
provider_executable = %q
config_file = %q
exec_timeout_seconds = %d
`, o.webhooks, jwtSecret, port, passphrase, filepath.Join(w.dir, "garm.db"), o.disableJIT, self, w.park.config(), o.execTimeout)
	if err := os.WriteFile(w.configFile(), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	config, _, err := garmconfig.Load(w.configFile())
	if err != nil {
		w.t.Fatal(err)
	}
	return config
}

// serve runs the server in this process.
func (w *world) serve(config *garmconfig.Config, listener net.Listener, limits fleet.Limits) {
	w.t.Helper()
	var err error
	w.server, err = garm.New(w.t.Context(), garm.Options{
		Config: config, Listener: listener, Limits: limits, PasswordCost: bcrypt.MinCost,
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := w.server.Close(); err != nil {
			w.t.Errorf("closing the server: %v", err)
		}
		if w.t.Failed() {
			w.t.Logf("the end of the server's log:\n%s", w.log.tail(16<<10))
		}
	})
}

// setUp tells a new server of its forge.
func (w *world) setUp(o options) {
	w.t.Helper()
	ctx := w.t.Context()
	address := func(path string) *string { text := w.url + "/api/v1" + path; return &text }
	noWait := uint(0)
	_, err := w.client.UpdateController(ctx, wire.UpdateControllerParams{MetadataURL: address("/metadata"), CallbackURL: address("/callbacks"), MinimumJobAgeBackoff: &noWait})
	if err == nil {
		url := w.github.URL()
		_, err = w.client.CreateEndpoint(ctx, wire.CreateEndpointParams{Name: "sim", BaseURL: url, APIBaseURL: url, UploadBaseURL: url, CACertBundle: o.ca})
	}
	if err == nil {
		login := wire.CreateCredentialsParams{Name: "main", Endpoint: "sim", AuthType: "pat", PAT: &wire.PAT{OAuth2Token: token}}
		if o.app != nil {
			login.AuthType, login.PAT, login.App = "app", nil, o.app
		}
		_, err = w.client.CreateCredentials(ctx, login)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.organization("acme", "main")
}

func (w *world) organization(name, credentials string) wire.Organization {
	w.t.Helper()
	o, err := w.client.CreateOrganization(w.t.Context(), wire.CreateEntityParams{Name: name, CredentialsName: credentials, WebhookSecret: hookSecret})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// pool makes a pool of the organization acme.
func (w *world) pool(change func(p *wire.CreatePoolParams)) wire.Pool {
	w.t.Helper()
	orgs, err := w.client.ListOrganizations(w.t.Context())
	if err != nil || len(orgs) == 0 {
		w.t.Fatalf("organizations: %v, %v", orgs, err)
	}
	params := wire.CreatePoolParams{
		ProviderName: "park", MaxRunners: 5, Image: "ubuntu", Flavor: "small", OSType: "linux", OSArch: "amd64", Tags: []string{"linux", "x64"}, Enabled: true, RunnerBootstrapTimeout: 20,
	}
	change(&params)
	p, err := w.client.CreateOrganizationPool(w.t.Context(), orgs[0].ID, params)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) updatePool(id string, params wire.UpdatePoolParams) {
	w.t.Helper()
	if _, err := w.client.UpdatePool(w.t.Context(), id, params); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) instances() []wire.Instance {
	w.t.Helper()
	list, err := w.client.ListInstances(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// await waits until check finds nothing missing.
func (w *world) await(check func() error) {
	w.t.Helper()
	if err := until(w.t.Context(), patience, check); err != nil {
		w.t.Fatal(err)
	}
}

// settled waits until there are n instances, all in a status, and returns them.
func (w *world) settled(n int, status wire.InstanceStatus) []wire.Instance {
	w.t.Helper()
	var list []wire.Instance
	w.await(func() error {
		list = w.instances()
		if len(list) != n {
			return fmt.Errorf("%d instances, not %d", len(list), n)
		}
		for _, i := range list {
			if i.Status != status {
				return fmt.Errorf("%s is %s (%s), not %s", i.Name, i.Status, i.ProviderFault, status)
			}
		}
		return nil
	})
	return list
}

// report says as the runner of an instance how it is.
func (w *world) report(i wire.Instance, status string) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"status": status, "message": "runner is " + status, "agent_id": i.AgentID})
	if err != nil {
		w.t.Fatal(err)
	}
	if code, text := w.send(http.MethodPost, "/api/v1/callbacks/status", w.park.token(w.t, i.Name), body, nil); code != http.StatusOK {
		w.t.Fatalf("the callback of %s answers %d %s", i.Name, code, text)
	}
}

// send makes a request and returns status and body.
func (w *world) send(method, path, bearer string, body []byte, header http.Header) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := browser.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// until waits until check finds nothing missing.
func until(ctx context.Context, within time.Duration, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return wait.Until(ctx, check)
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *buffer) tail(n int) string {
	text := b.String()
	return text[max(len(text)-n, 0):]
}
