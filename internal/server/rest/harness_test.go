package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/events"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/rest"
	"github.com/garm-operator/garm-operator/internal/server/service"
	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
)

const password = "xK9-pQ2v_Lm7zR4w"

// idle is an engine that has nothing to do.
type idle struct {
	registrations int
	webhooks      forgetest.Webhooks
}

func (*idle) Health(model.EntityID) model.EntityHealth { return model.EntityHealth{Running: true} }

func (*idle) DeleteInstance(context.Context, model.InstanceID, bool, bool) error { return nil }

func (i *idle) RegistrationToken(context.Context, model.Entity) (string, time.Time, error) {
	i.registrations++
	return "REGISTRATION", time.Now().Add(time.Hour), nil
}

func (i *idle) Webhooks(context.Context, model.Entity) (service.Webhooks, error) {
	return &i.webhooks, nil
}

func (*idle) Tools(context.Context, model.Entity) (string, []service.Tool, error) {
	return "", nil, errors.New("the forge does not answer")
}

// server is the API over a real database.
type server struct {
	*httptest.Server
	store  *sqlstore.Store
	hub    *events.Hub
	tokens *auth.Tokens
	svc    *service.Service
	engine *idle
	token  string
}

// newServer starts an API without an administrator.
func newServer(t *testing.T, change func(*rest.Options)) *server {
	t.Helper()
	s := &server{hub: events.NewHub(), tokens: &auth.Tokens{Secret: "a secret of tests", Life: 24 * time.Hour}, engine: &idle{}}
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: filepath.Join(t.TempDir(), "garm.db"), Passphrase: "a9Kd03jfLq82nvBx71mWzPq45tYhs6Gc", Feed: s.hub})
	if err != nil {
		t.Fatal(err)
	}
	s.store = store
	s.svc = &service.Service{Store: store, Engine: s.engine, Forges: s.engine, Tokens: s.tokens, Providers: []service.Provider{{Name: "sim"}}, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	o := rest.Options{Service: s.svc, Tokens: s.tokens, Hub: s.hub, Version: "v0.1.8", Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	s.Server = httptest.NewServer(rest.New(o))
	t.Cleanup(func() {
		s.hub.Close()
		s.Close()
		_ = store.Close()
	})
	return s
}

// ready starts an API that is set up and logged in to. It takes no password, whose hash would cost each test its time.
func ready(t *testing.T, change func(*rest.Options)) *server {
	t.Helper()
	s := newServer(t, change)
	user, err := s.store.CreateAdmin(t.Context(), model.User{Username: "admin", Email: "admin@example.com", PasswordHash: []byte("none"), Enabled: true, IsAdmin: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.token, err = s.tokens.UserToken(user); err != nil {
		t.Fatal(err)
	}
	s.want(t, 200, "PUT", "/controller", map[string]any{"metadata_url": "http://garm.test/m", "callback_url": "http://garm.test/c", "webhook_url": "http://garm.test/w"})
	return s
}

// fleet adds credentials, a repository and a pool, and returns the ids of the latter.
func (s *server) fleet(t *testing.T) (repository, pool string) {
	t.Helper()
	s.want(t, 200, "POST", "/github/credentials", map[string]any{"name": "main", "endpoint": "github.com", "auth_type": "pat", "pat": map[string]any{"oauth2_token": "ghp_verysecret"}})
	repository = s.want(t, 200, "POST", "/repositories", map[string]any{"owner": "acme", "name": "widgets", "credentials_name": "main", "webhook_secret": "hook-verysecret"})["id"].(string)
	pool = s.want(t, 200, "POST", "/repositories/"+repository+"/pools", newPool())["id"].(string)
	return repository, pool
}

func newPool() map[string]any {
	return map[string]any{
		"provider_name": "sim", "image": "ubuntu", "flavor": "small", "os_type": "linux", "os_arch": "amd64", "tags": []string{"alpha"}, "max_runners": 2,
		"enabled": true, "priority": 7,
	}
}

// do sends a request to a path below /api/v1, or to a full one.
func (s *server) do(t *testing.T, method, path string, body any, header ...string) (*http.Response, string) {
	t.Helper()
	var sent io.Reader
	if text, ok := body.(string); ok {
		sent = bytes.NewBufferString(text)
	} else if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/api/v1"+path, sent)
	if err != nil {
		t.Fatal(err)
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// want sends a request, demands a status and returns the object of the answer, if it is one.
func (s *server) want(t *testing.T, status int, method, path string, body any, header ...string) map[string]any {
	t.Helper()
	response, text := s.do(t, method, path, body, header...)
	if response.StatusCode != status {
		t.Fatalf("%s %s answers %d %s, want %d", method, path, response.StatusCode, text, status)
	}
	var object map[string]any
	_ = json.Unmarshal([]byte(text), &object) // an answer may be a list or empty
	return object
}
