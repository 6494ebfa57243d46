package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
)

func TestErrorKinds(t *testing.T) {
	const html = "<html><body>Welcome</body></html>"
	for name, c := range map[string]struct {
		status int
		body   string
		want   garm.ErrorKind
	}{
		"missing object":               {404, `{"error":"Not Found","details":"gone"}`, garm.KindNotFound},
		"missing route":                {404, `{"error":"Not found","details":"Resource not found"}`, garm.KindNoRoute},
		"missing page of a proxy":      {404, html, garm.KindUndecodable},
		"missing page of a JSON proxy": {404, `{"message":"no route"}`, garm.KindUndecodable},
		"forbidden by a proxy":         {403, html, garm.KindUnauthorized},
		"URLs missing, v0.1.5":         {409, `{"error":"urls_required","details":"Missing required URLs. Make sure you update the metadata, callback and webhook URLs"}`, garm.KindURLsRequired},
		"URLs missing, v0.1.6":         {409, `{"error":"urls_required","details":"Missing required URLs. Make sure you update the metadata and callback URLs"}`, garm.KindURLsRequired},
		"server without administrator": {409, `{"error":"init_required","details":"Missing superuser"}`, garm.KindInitRequired},
		"conflict":                     {409, `{"error":"Conflict","details":"duplicate"}`, garm.KindConflict},
		"invalid":                      {400, `{"error":"Bad Request","details":"no"}`, garm.KindInvalid},
		"bad gateway":                  {502, html, garm.KindUnavailable},
		"redirect":                     {302, "", garm.KindUnknown},
		"welcome page":                 {200, html, garm.KindUndecodable},
		"nothing":                      {200, "", garm.KindUndecodable},
		"no object":                    {200, "null", garm.KindUndecodable},
		"another object":               {200, `{"status":"up"}`, garm.KindUndecodable},
		"cut off":                      {200, `{"id":"p","max_run`, garm.KindUndecodable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub()
			s.handle = text(c.status, c.body)
			_, err := clientOf(t, s).GetPool(t.Context(), "p")
			if garm.KindOf(err) != c.want || err == nil {
				t.Errorf("kind %q, want %q: %v", garm.KindOf(err), c.want, err)
			}
		})
	}
}

func TestEmptyAnswerIsNoEmptyList(t *testing.T) {
	s := newStub()
	c := clientOf(t, s)
	for body, want := range map[string]garm.ErrorKind{"": garm.KindUndecodable, "{}": garm.KindUndecodable} {
		s.handle = text(200, body)
		if _, err := c.ListPools(t.Context()); err == nil || garm.KindOf(err) != want {
			t.Errorf("%q: %v, want %v", body, err, want)
		}
	}
	for _, body := range []string{"null", "[]"} {
		s.handle = text(200, body)
		if pools, err := c.ListPools(t.Context()); err != nil || len(pools) != 0 {
			t.Errorf("%q: %v, %v", body, pools, err)
		}
	}
}

func TestDeleteAcceptsAnySuccess(t *testing.T) {
	s := newStub()
	c := clientOf(t, s)
	for status, body := range map[int]string{200: "", 202: "gone", 204: ""} {
		s.handle = text(status, body)
		if err := c.DeletePool(t.Context(), "p"); err != nil {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

// A delete without an id would be one of the whole collection.
func TestNoCallWithoutID(t *testing.T) {
	s := newStub()
	for _, id := range []string{"", ".", ".."} {
		if err := clientOf(t, s).DeleteEnterprise(t.Context(), id); garm.KindOf(err) != garm.KindInvalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	if s.calls != 0 {
		t.Errorf("%d requests were sent", s.calls)
	}
}

func TestRetryAfter(t *testing.T) {
	s := newStub()
	s.handle = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "17")
		text(429, `{"error":"Too many"}`)(w, r)
	}
	_, err := clientOf(t, s).ListPools(t.Context())
	var e *garm.Error
	if !errors.As(err, &e) || e.Kind != garm.KindRateLimited || e.RetryAfterSeconds != 17 {
		t.Errorf("got %#v", err)
	}
}

// A redirect would turn a POST into a GET, or take the password to another address.
func TestRedirectsAreNotFollowed(t *testing.T) {
	s := newStub()
	s.handle = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/api/v1/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	_, err := clientOf(t, s).CreateRepositoryPool(t.Context(), "r", garm.CreatePoolParams{})
	if garm.KindOf(err) != garm.KindUnknown || s.calls != 1 {
		t.Errorf("%d calls, want one and an error that tells of the address: %v", s.calls, err)
	}
}

func TestDeadlineOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub()
		hang := roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/auth/login") {
				return s.RoundTrip(r)
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		start := time.Now()
		_, err := clientOf(t, hang).ListPools(t.Context())
		if garm.KindOf(err) != garm.KindTimeout || !garm.OutcomeUnknown(err) || time.Since(start) != client.DefaultTimeout {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

func TestOutcomeOfARefusedConnectionIsKnown(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(client.Config{BaseURL: server.URL, Username: testUser, Password: client.Password(testPassword)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateRepositoryPool(t.Context(), "r", garm.CreatePoolParams{})
	if garm.KindOf(err) != garm.KindTransport || garm.OutcomeUnknown(err) {
		t.Errorf("got %v", err)
	}
}

func TestErrorsDoNotRepeatTheAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer server.Close()
	c, err := client.New(client.Config{BaseURL: server.URL, Username: testUser, Password: client.Password(testPassword)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.GetPool(t.Context(), "p"); garm.KindOf(err) != garm.KindTransport || strings.Contains(err.Error(), server.URL) {
		t.Errorf("got %v", err)
	}
}

func TestSecretsStayOut(t *testing.T) {
	const hook, pat, key = "sentinel-hook", "sentinel-pat", "sentinel-key"
	calls := map[string]func(context.Context, *client.Client) error{
		"login": func(ctx context.Context, c *client.Client) error { _, err := c.FirstRun(ctx); return err },
		"list":  func(ctx context.Context, c *client.Client) error { _, err := c.ListPools(ctx); return err },
		"entity": func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateRepository(ctx, garm.CreateEntityParams{WebhookSecret: hook})
			return err
		},
		"credentials": func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateCredentials(ctx, garm.CreateCredentialsParams{
				PAT: &garm.PAT{OAuth2Token: pat}, App: &garm.App{PrivateKey: []byte(key)},
			})
			return err
		},
		"events": func(ctx context.Context, c *client.Client) error {
			_, err := c.Events(ctx, garm.EventFilter{})
			return err
		},
	}
	// Each server repeats all that it was told.
	echo := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			said := strings.NewReplacer(`"`, "'", "\n", " ").Replace(readAll(r) + r.Header.Get("Authorization"))
			text(status, `{"error":"Echo `+said+`","details":"`+said+`"}`)(w, r)
		}
	}
	for name, call := range calls {
		for _, status := range []int{200, 302, 400, 401, 404, 409, 500} {
			s := newStub()
			s.handle = echo(status)
			everything := roundTripper(func(r *http.Request) (*http.Response, error) {
				if !strings.HasSuffix(r.URL.Path, "/auth/login") && !strings.HasSuffix(r.URL.Path, "/first-run") {
					return s.RoundTrip(r)
				}
				if status == 200 {
					return s.RoundTrip(r)
				}
				recorder := httptest.NewRecorder()
				echo(status)(recorder, r)
				return recorder.Result(), nil
			})
			for _, transport := range []http.RoundTripper{s, everything} {
				err := call(t.Context(), clientOf(t, transport))
				for _, text := range texts(err) {
					if strings.Contains(text, "sentinel") {
						t.Errorf("%s, status %d: %s", name, status, text)
					}
				}
			}
		}
	}
}

func texts(err error) []string {
	var all []string
	for ; err != nil; err = errors.Unwrap(err) {
		all = append(all, err.Error())
	}
	return all
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestConfig(t *testing.T) {
	for _, c := range []struct{ base, want string }{
		{"", "base URL"},
		{"garm:9997", "base URL"},
		{"ftp://garm", "base URL"},
		{"https://", "base URL"},
		{"https://u:sentinel@garm", "base URL"},
		{"https://garm/?a=sentinel", "base URL"},
		{"https://ga rm:sentinel", "base URL"},
	} {
		_, err := client.New(client.Config{BaseURL: c.base, Username: "u", Password: client.Password("p")})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sentinel") {
			t.Errorf("%q: %v", c.base, err)
		}
	}
	_, err := client.New(client.Config{BaseURL: "https://garm", Username: "u", Password: client.Password("p"), CABundle: []byte("junk")})
	if err == nil || !strings.Contains(err.Error(), "CA bundle") {
		t.Errorf("a junk CA bundle: %v", err)
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// What differs from one failure to the next, as the port of this side does, is not in the text: a status that repeats it
// would never come to rest.
func TestFailuresOfOneKindReadAlike(t *testing.T) {
	broken := func(port int) error {
		return &net.OpError{
			Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9997},
			Err: os.NewSyscallError("read", syscall.ECONNRESET),
		}
	}
	lookup := func(port int) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
			Err: fmt.Sprintf("read udp 10.0.0.1:%d->10.0.0.2:53: i/o timeout", port), Name: "garm", Server: "10.0.0.2:53", IsTimeout: true,
		}}
	}
	for name, fail := range map[string]func(int) error{"broken": broken, "name": lookup} {
		text := func(port int) string {
			c, err := client.New(client.Config{
				BaseURL: "http://garm:9997", Username: "u", Password: client.Password("p"), Transport: failing{fail(port)},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.ListPools(t.Context())
			return err.Error()
		}
		if a, b := text(40001), text(40002); a != b || strings.Contains(a, "4000") {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
}
