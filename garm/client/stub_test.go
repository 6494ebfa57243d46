package client_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/garm/client"
)

const (
	testUser     = "admin"
	testPassword = "sentinel-pass-8f3a"
)

// stub answers logins as GARM does; everything else is for handle, once the token is known.
type stub struct {
	mu sync.Mutex
	// life is how long a token lasts.
	life time.Duration
	// initialized says whether there is an administrator; old answers as v0.1.x does if there is none.
	initialized, old bool
	// deny refuses every login, and forget every token.
	deny, forget bool
	handle       http.HandlerFunc

	// refused counts calls whose token was not taken.
	logins, firstRuns, calls, refused int
	// firstRun is what the last first-run asked for.
	firstRun string
	tokens   map[string]time.Time
}

func newStub() *stub {
	return &stub{life: time.Hour, initialized: true, tokens: map[string]time.Time{}, handle: text(200, "[]")}
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v1"); {
	case path == "/auth/login":
		s.logins++
		switch {
		case !s.initialized && !s.old:
			text(409, `{"error":"init_required","details":"Missing superuser"}`)(w, r)
		case !s.initialized || s.deny || !strings.Contains(readAll(r), testPassword):
			text(401, `{"error":"Not Authorized","details":""}`)(w, r)
		default:
			value := fmt.Sprintf("sentinel-token-%d.%s.x", s.logins, claims(time.Now().Add(s.life)))
			s.tokens[value] = time.Now().Add(s.life).Truncate(time.Second)
			_ = json.NewEncoder(w).Encode(map[string]string{"token": value})
		}
	case path == "/first-run":
		s.firstRuns++
		s.firstRun = readAll(r)
		if s.initialized {
			text(409, `{"error":"Conflict","details":"already initialized"}`)(w, r)
			return
		}
		s.initialized = true
		text(200, `{"id":"u"}`)(w, r)
	case !s.initialized && !s.old:
		text(409, `{"error":"init_required","details":"Missing superuser"}`)(w, r)
	default:
		end, ok := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !ok || s.forget || !time.Now().Before(end) {
			s.refused++
			text(401, `{"error":"Authentication failed","details":""}`)(w, r)
			return
		}
		s.calls++
		s.handle(w, r)
	}
}

// wipe is the loss of the database.
func (s *stub) wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initialized, s.tokens = false, map[string]time.Time{}
}

func readAll(r *http.Request) string {
	data, _ := io.ReadAll(r.Body)
	return string(data)
}

func claims(end time.Time) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, end.Unix()))
}

// RoundTrip makes the stub a transport, so that it works within a bubble of testing/synctest.
func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

func clientOf(t *testing.T, s http.RoundTripper, change ...func(*client.Config)) *client.Client {
	t.Helper()
	config := client.Config{
		BaseURL: "http://garm.example.com", Username: testUser, Password: client.Password(testPassword), Transport: s,
	}
	for _, f := range change {
		f(&config)
	}
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func withInit(c *client.Config) { c.Init, c.Email = true, "a@example.com" }

func password(f func() string) func(*client.Config) {
	return func(c *client.Config) {
		c.Password = func(context.Context) (string, error) { return f(), nil }
	}
}
