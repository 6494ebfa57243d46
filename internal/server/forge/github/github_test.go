package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/github"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// ghes is a GitHub Enterprise Server with a certificate of its own.
type ghes struct {
	*httptest.Server
	mu     sync.Mutex
	token  string
	fail   func(w http.ResponseWriter, r *http.Request) bool
	calls  []string
	bodies []string
}

func newGHES(t *testing.T) *ghes {
	g := &ghes{token: "first"}
	mux := http.NewServeMux()
	reply := func(pattern string, body any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(body) })
	}
	runner := map[string]any{"id": 5, "name": "r", "status": "online", "busy": true, "labels": []any{map[string]any{"name": "linux"}}}
	for _, scope := range []string{"/api/v3/orgs/acme", "/api/v3/repos/acme/app", "/api/v3/enterprises/big"} {
		mux.HandleFunc("GET "+scope+"/actions/runners", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("page") == "1" {
				w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=2>; rel="next"`, g.URL, r.URL.Path))
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"total_count": 2, "runners": []any{runner}})
		})
		reply("GET "+scope+"/actions/runners/{id}", runner)
		reply("GET "+scope+"/actions/runners/downloads", []any{map[string]any{"os": "linux", "architecture": "x64", "download_url": "u", "filename": "f", "sha256_checksum": "s", "temp_download_token": "t"}})
		reply("POST "+scope+"/actions/runners/registration-token", map[string]any{"token": "reg", "expires_at": "2030-01-01T00:00:00Z"})
		reply("GET "+scope+"/actions/runner-groups", map[string]any{"runner_groups": []any{map[string]any{"id": 9, "name": "Special"}}})
		reply("POST "+scope+"/actions/runners/generate-jitconfig", map[string]any{
			"runner": runner, "encoded_jit_config": base64.StdEncoding.EncodeToString([]byte(`{".runner":"e30="}`)),
		})
		mux.HandleFunc("DELETE "+scope+"/actions/runners/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	}
	mux.HandleFunc("POST /api/v3/app/installations/3/access_tokens", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"token": g.token, "expires_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	})
	g.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body)
		g.mu.Lock()
		g.calls = append(g.calls, r.Method+" "+r.URL.Path)
		g.bodies = append(g.bodies, string(body))
		fail, want := g.fail, g.token
		g.mu.Unlock()
		if fail != nil && fail(w, r) {
			return
		}
		got := r.Header.Get("Authorization")
		if !strings.Contains(r.URL.Path, "/access_tokens") && got != "Bearer "+want && got != "token "+want {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"message":"Bad credentials"}`))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *ghes) lastBody() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bodies[len(g.bodies)-1]
}

func (g *ghes) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.calls)
}

func (g *ghes) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw})
}

func (g *ghes) entity(kind model.EntityKind) model.Entity {
	e := model.Entity{ID: "e", Kind: kind, Name: "acme", Credentials: model.Credentials{
		ID: 1, Name: "creds", AuthType: model.AuthPAT,
		Endpoint: model.Endpoint{Name: "ghes", Type: model.ForgeGitHub, BaseURL: "https://ghes.test/", APIBaseURL: g.URL, CACertBundle: g.ca()},
	}}
	switch kind {
	case model.KindRepository:
		e.Owner, e.Name = "acme", "app"
	case model.KindEnterprise:
		e.Name = "big"
	}
	return e
}

type secrets map[model.CredentialsID]model.ForgeSecret

func (s secrets) ForgeSecret(_ context.Context, id model.CredentialsID) (model.ForgeSecret, error) {
	return s[id], nil
}

func open(t *testing.T, s secrets, e model.Entity) (*github.Forges, fleet.Forge) {
	t.Helper()
	forges := github.New(github.Options{Secrets: s, Timeout: 10 * time.Second})
	t.Cleanup(forges.Close)
	f, err := forges.Forge(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return forges, f
}

func everyCall(ctx context.Context, f fleet.Forge) map[string]error {
	out := map[string]error{}
	_, out["Tools"] = f.Tools(ctx)
	_, out["Runners"] = f.Runners(ctx)
	_, out["Runner"] = f.Runner(ctx, 5)
	out["RemoveRunner"] = f.RemoveRunner(ctx, 5)
	_, _, out["JITConfig"] = f.JITConfig(ctx, "n", "special", []string{"linux"})
	_, _, out["RegistrationToken"] = f.RegistrationToken(ctx)
	return out
}

func appSecret(t *testing.T) model.ForgeSecret {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return model.ForgeSecret{AppID: 2, InstallationID: 3, PrivateKey: pem.EncodeToMemory(block)}
}

// Every call path trusts the CA of the endpoint, and an App gets its token from the API of the endpoint.
func TestSV41SV11EveryCallGoesToTheEndpoint(t *testing.T) {
	app := appSecret(t)
	for _, kind := range []model.EntityKind{model.KindRepository, model.KindOrganization, model.KindEnterprise} {
		for _, auth := range []model.AuthType{model.AuthPAT, model.AuthApp} {
			t.Run(string(kind)+"/"+string(auth), func(t *testing.T) {
				g := newGHES(t)
				e := g.entity(kind)
				e.Credentials.AuthType = auth
				secret := model.ForgeSecret{Token: "first"}
				if auth == model.AuthApp {
					secret = app
				}
				_, f := open(t, secrets{1: secret}, e)
				for op, err := range everyCall(t.Context(), f) {
					if err != nil {
						t.Errorf("%s: %v", op, err)
					}
				}
			})
		}
	}
}

func TestValues(t *testing.T) {
	g := newGHES(t)
	_, f := open(t, secrets{1: {Token: "first"}}, g.entity(model.KindOrganization))
	if list, err := f.Runners(t.Context()); err != nil || len(list) != 2 || !list[0].Online || !list[0].Busy || list[0].Labels[0] != "linux" {
		t.Errorf("runners of both pages: %+v, %v", list, err)
	}
	if r, config, err := f.JITConfig(t.Context(), "n", "", []string{"l"}); err != nil || r.ID != 5 || string(config[".runner"]) != "{}" {
		t.Errorf("JIT: %+v, %v", r, err)
	}
	for kind, want := range map[model.EntityKind]string{
		model.KindOrganization: "https://ghes.test/acme", model.KindRepository: "https://ghes.test/acme/app", model.KindEnterprise: "https://ghes.test/enterprises/big",
	} {
		if _, f := open(t, secrets{1: {Token: "first"}}, g.entity(kind)); f.URL() != want {
			t.Errorf("URL %s, want %s", f.URL(), want)
		}
	}
}

func TestSV26RunnerGroup(t *testing.T) {
	g := newGHES(t)
	_, f := open(t, secrets{1: {Token: "first"}}, g.entity(model.KindOrganization))
	for _, test := range []struct {
		group string
		calls int
		id    string
	}{{"", 1, `"runner_group_id":1,`}, {"special", 2, `"runner_group_id":9,`}, {"Special", 1, `"runner_group_id":9,`}} {
		before := g.count()
		if _, _, err := f.JITConfig(t.Context(), "n", test.group, []string{"l"}); err != nil {
			t.Fatal(err)
		}
		if body := g.lastBody(); !strings.Contains(body, test.id) || !strings.Contains(body, `"work_folder":"_work"`) {
			t.Errorf("group %q: body %s", test.group, body)
		}
		if got := g.count() - before; got != test.calls {
			t.Errorf("group %q: %d calls, want %d", test.group, got, test.calls)
		}
	}
	_, _, err := f.JITConfig(t.Context(), "n", "nowhere", []string{"l"})
	if kind(t, err) != fleet.ForgeInvalid || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error %v", err)
	}
}

// Only the new token is accepted; the client of the old one is not used again.
func TestSV8RotatedTokenIsUsed(t *testing.T) {
	g := newGHES(t)
	s := secrets{1: {Token: "first"}}
	e := g.entity(model.KindOrganization)
	forges, f := open(t, s, e)
	if _, err := f.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.token, s[1] = "second", model.ForgeSecret{Token: "second"}
	if _, err := f.Tools(t.Context()); kind(t, err) != fleet.ForgeUnauthorized {
		t.Errorf("the old token: %v", err)
	}
	e.Credentials.Revision++
	f, err := forges.Forge(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tools(t.Context()); err != nil {
		t.Errorf("the new token: %v", err)
	}
}

func kind(t *testing.T, err error) fleet.ForgeErrorKind {
	t.Helper()
	var failed *fleet.ForgeError
	if !errors.As(err, &failed) {
		t.Fatalf("error %v is no forge error", err)
	}
	return failed.Kind
}

func TestErrors(t *testing.T) {
	reset := time.Now().Add(30 * time.Minute).Truncate(time.Second)
	limited := map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "5000", "X-RateLimit-Reset": fmt.Sprint(reset.Unix())}
	tests := map[string]struct {
		status  int
		headers map[string]string
		want    fleet.ForgeErrorKind
		remove  fleet.ForgeErrorKind
		until   time.Time
	}{
		"401":               {status: 401, want: fleet.ForgeUnauthorized, remove: fleet.ForgeUnauthorized},
		"403":               {status: 403, want: fleet.ForgeUnauthorized, remove: fleet.ForgeUnauthorized},
		"404":               {status: 404, want: fleet.ForgeNotFound, remove: -1},
		"409":               {status: 409, want: fleet.ForgeConflict, remove: fleet.ForgeConflict},
		"422":               {status: 422, want: fleet.ForgeInvalid, remove: fleet.ForgeBusy},
		"500":               {status: 500, want: fleet.ForgeUnavailable, remove: fleet.ForgeUnavailable},
		"SV-52 403 limit":   {status: 403, headers: limited, want: fleet.ForgeRateLimited, remove: fleet.ForgeRateLimited, until: reset},
		"SV-52 429 limit":   {status: 429, headers: limited, want: fleet.ForgeRateLimited, remove: fleet.ForgeRateLimited, until: reset},
		"SV-52 retry after": {status: 403, headers: map[string]string{"Retry-After": "600"}, want: fleet.ForgeRateLimited, remove: fleet.ForgeRateLimited, until: time.Now().Add(10 * time.Minute)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGHES(t)
			g.fail = func(w http.ResponseWriter, _ *http.Request) bool {
				for k, v := range test.headers {
					w.Header().Set(k, v)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(`{"message":"no"}`))
				return true
			}
			_, f := open(t, secrets{1: {Token: "first"}}, g.entity(model.KindOrganization))
			_, err := f.Runner(t.Context(), 5)
			if got := kind(t, err); got != test.want {
				t.Errorf("kind %d, want %d: %v", got, test.want, err)
			}
			var failed *fleet.ForgeError
			if errors.As(err, &failed) && !test.until.IsZero() && failed.Until.Sub(test.until).Abs() > 10*time.Second {
				t.Errorf("until %s, want %s", failed.Until, test.until)
			}
			_, f = open(t, secrets{1: {Token: "first"}}, g.entity(model.KindOrganization))
			if err := f.RemoveRunner(t.Context(), 5); (err == nil) != (test.remove < 0) || err != nil && kind(t, err) != test.remove {
				t.Errorf("removal: %v", err)
			}
		})
	}
}

func TestForgeThatIsNotThere(t *testing.T) {
	g := newGHES(t)
	e := g.entity(model.KindOrganization)
	g.Close()
	_, f := open(t, secrets{1: {Token: "first"}}, e)
	for op, err := range everyCall(t.Context(), f) {
		if kind(t, err) != fleet.ForgeUnavailable {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func TestBadCredentialsNameNoSecret(t *testing.T) {
	g := newGHES(t)
	e := g.entity(model.KindOrganization)
	e.Credentials.AuthType = model.AuthApp
	_, err := github.New(github.Options{Secrets: secrets{1: {PrivateKey: []byte("sentinel-key")}}}).Forge(t.Context(), e)
	if err == nil || strings.Contains(err.Error(), "sentinel") || !strings.Contains(err.Error(), "creds") {
		t.Errorf("error %v", err)
	}
}
