package server_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
)

// Whatever happens, no secret shows up in the log (at the most talkative level), an answer, an error, an event, the
// history of an instance, a provider's fault or a metric.
func TestSV58NoSecretShowsUp(t *testing.T) {
	t.Parallel()
	forgeApp, app := newApp(t)
	w := newWorld(t, options{
		limits: fleet.Limits{SweepEvery: time.Second},
		github: githubsim.Options{Tokens: map[string]githubsim.Token{token: {Login: "robot"}}, Apps: []githubsim.App{forgeApp}},
	})
	shown := &buffer{}
	w.follow(shown)
	secrets := map[string]string{
		"the token of GitHub": token, "a refused token of GitHub": "ghp_refused_sentinel", "the webhook secret": hookSecret, "the administrator's password": adminPassword,
		"a wrong password": "wrong-uQ9-vT2x-sentinel", "the passphrase": passphrase, "the signing secret": jwtSecret,
		"the key of the app": strings.Split(string(app.PrivateKey), "\n")[3],
	}

	// Credentials of all kinds, good and bad.
	for name, params := range map[string]wire.CreateCredentialsParams{
		"refused": {AuthType: "pat", PAT: &wire.PAT{OAuth2Token: secrets["a refused token of GitHub"]}},
		"app":     {AuthType: "app", App: app},
	} {
		params.Name, params.Endpoint = name, "sim"
		if _, err := w.client.CreateCredentials(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		w.organization("with-"+name, name)
	}
	for _, params := range []wire.CreateCredentialsParams{
		{Name: "main", Endpoint: "sim", AuthType: "pat", PAT: &wire.PAT{OAuth2Token: token}},
		{Name: "other", Endpoint: "absent", AuthType: "pat", PAT: &wire.PAT{OAuth2Token: token}},
		{Name: "broken", Endpoint: "sim", AuthType: "app", App: &wire.App{AppID: 1, InstallationID: 1, PrivateKey: app.PrivateKey[:200]}},
	} {
		_, err := w.client.CreateCredentials(t.Context(), params)
		show(shown, err)
	}
	w.await(w.healthy("with-refused", false))
	w.await(w.healthy("with-app", true))

	// A provider that tells all it knows, and one that works.
	w.park.behave(t, behaviour{Echo: true, CreateExit: 1})
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
	failed := w.settled(1, wire.InstanceError)[0]
	_, _ = shown.Write(failed.ProviderFault)
	if !strings.Contains(string(failed.ProviderFault), "[redacted]") {
		t.Errorf("the fault does not show what the provider said: %s", failed.ProviderFault)
	}
	secrets["the token of a failed instance"] = w.park.token(t, failed.Name)
	w.park.behave(t, behaviour{Echo: true})
	good := w.settled(1, wire.InstanceRunning)[0]
	secrets["the token of an instance"] = w.park.token(t, good.Name)
	secrets["the credentials of a runner"] = w.runnerCredentials(good)
	w.report(good, "idle")

	// Callers who are wrong.
	for _, c := range []struct{ method, path, bearer, body string }{
		{"POST", "/api/v1/auth/login", "", `{"username":"admin","password":"` + secrets["a wrong password"] + `"}`},
		{"POST", "/api/v1/auth/login", "", `{"username":"admin","password":"` + adminPassword}, // cut off
		{"POST", "/api/v1/first-run", "", `{"username":"admin","email":"a@b.c","password":"` + adminPassword + `"}`},
		{"GET", "/api/v1/pools", secrets["the token of an instance"], ""},
		{"GET", "/api/v1/metadata/credentials/absent", secrets["the token of an instance"], ""},
		{"POST", "/api/v1/callbacks/status", secrets["the token of an instance"], `{"status":"` + hookSecret + `"`},
		{"POST", "/webhooks", "", `{"action":"queued"}`},
	} {
		header := http.Header{}
		if c.path == "/webhooks" {
			header = http.Header{"X-Github-Event": {"workflow_job"}, "X-Github-Hook-Installation-Target-Type": {"organization"}, "X-Hub-Signature-256": {hookSecret}}
		}
		_, text := w.send(c.method, c.path, c.bearer, []byte(c.body), header)
		show(shown, errors.New(text))
	}
	w.hook("queued", 1, "")
	w.hook("in_progress", 1, good.Name)
	w.hook("completed", 1, good.Name)
	w.settled(1, wire.InstanceRunning)

	secrets["the token of the administrator"] = w.readAll(shown)
	shown.mu.Lock()
	everything := shown.b.String() + w.log.String()
	shown.mu.Unlock()
	for name, secret := range secrets {
		if secret == "" {
			t.Errorf("%s is not known to this test", name)
			continue
		}
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))} {
			if at := strings.Index(everything, form); at >= 0 {
				t.Errorf("%s shows up: ...%s...", name, everything[max(at-200, 0):min(at+len(form)+20, len(everything))])
			}
		}
	}
}

func show(b *buffer, err error) {
	if err != nil {
		_, _ = b.Write([]byte(err.Error() + "\n"))
	}
}

// follow keeps all events.
func (w *world) follow(shown *buffer) {
	w.t.Helper()
	stream, err := w.client.Events(w.t.Context(), wire.EventFilter{SendEverything: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = stream.Close() })
	go func() {
		for {
			e, err := stream.Next(w.t.Context())
			if err != nil {
				return
			}
			_, _ = shown.Write(append(e.Payload, '\n'))
		}
	}()
}

// runnerCredentials are what the runner of an instance logs in with at the forge.
func (w *world) runnerCredentials(i wire.Instance) string {
	w.t.Helper()
	code, text := w.send(http.MethodGet, "/api/v1/metadata/credentials/credentials", w.park.token(w.t, i.Name), nil, nil)
	var c runnerapi.Credentials
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		w.t.Fatalf("the credentials answer %d %s", code, text)
	}
	return c.Data.Token
}

// readAll reads everything that an administrator can, and returns the token that it used.
func (w *world) readAll(shown *buffer) string {
	w.t.Helper()
	_, login := w.send(http.MethodPost, "/api/v1/auth/login", "", []byte(`{"username":"admin","password":"`+adminPassword+`"}`), nil)
	var jwt struct{ Token string }
	if err := json.Unmarshal([]byte(login), &jwt); err != nil {
		w.t.Fatal(err)
	}
	paths := []string{
		"/api/v1/controller-info", "/api/v1/providers", "/api/v1/github/endpoints", "/api/v1/github/credentials", "/api/v1/organizations",
		"/api/v1/pools", "/api/v1/instances", "/api/v1/jobs", "/metrics",
	}
	orgs, err := w.client.ListOrganizations(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range orgs {
		paths = append(paths, "/api/v1/organizations/"+o.ID)
	}
	for _, i := range w.instances() {
		paths = append(paths, "/api/v1/instances/"+i.Name)
		_, _ = shown.Write(i.ProviderFault) // in base64 on the wire
	}
	for _, path := range paths {
		code, text := w.send(http.MethodGet, path, jwt.Token, nil, nil)
		if code != http.StatusOK {
			w.t.Errorf("%s answers %d", path, code)
		}
		_, _ = shown.Write([]byte(text))
	}
	return jwt.Token
}
