package garmproxy_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// backend is a server that answers each path with what the test says, and sends events on demand.
type backend struct {
	answers map[string]string
	status  map[string]int
	events  chan string

	mu   sync.Mutex
	hits []string
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v1/ws/events" {
		b.stream(w, r)
		return
	}
	b.mu.Lock()
	b.hits = append(b.hits, r.Method+" "+r.URL.Path)
	b.mu.Unlock()
	key := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v1")
	w.Header().Set("Content-Type", "application/json")
	if s := b.status[key]; s != 0 {
		w.WriteHeader(s)
	}
	_, _ = io.WriteString(w, b.answers[key])
}

func (b *backend) stream(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"Authentication failed","details":""}`)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	if _, _, err := conn.Read(r.Context()); err != nil {
		return
	}
	ctx := conn.CloseRead(r.Context())
	for {
		select {
		case e := <-b.events:
			if conn.Write(ctx, websocket.MessageText, []byte(e)) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (b *backend) hit() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.hits)
}

func start(t *testing.T, b *backend) *garmproxy.Proxy {
	t.Helper()
	b.events = make(chan string, 100)
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	proxy, err := garmproxy.Start(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}

// ask makes a request on a connection of its own and returns status and body.
func ask(t *testing.T, p *garmproxy.Proxy, method, path string) (int, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.URL()+"/api/v1"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(bytes.TrimSpace(body)), err
}

func TestTemplate(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/pools":                   "/pools",
		"/api/v1/pools/":                  "/pools",
		"/api/v1/pools/4b7f":              "/pools/{id}",
		"/api/v1/pools/4b7f/instances":    "/pools/{id}/instances",
		"/api/v1/organizations/a/pools/b": "/organizations/{id}/pools/{id}",
		"/api/v1/github/endpoints/pools":  "/github/endpoints/{id}",
		"/api/v1/github/credentials/1/":   "/github/credentials/{id}",
		"/api/v1/controller-info":         "/controller-info",
		"/api/v1/ws/events":               "/ws/events",
		"/webhooks/x":                     "/webhooks/{id}",
	} {
		if got := garmproxy.Template(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	p := start(t, &backend{answers: map[string]string{"GET /pools": "[]"}, status: map[string]int{"GET /pools/x": 404}})
	before := p.Counts()
	for _, path := range []string{"/pools", "/pools", "/pools/x"} {
		if _, _, err := ask(t, p, "GET", path); err != nil {
			t.Fatal(err)
		}
	}
	remove := p.Inject(garmproxy.Fault{Method: "POST", Template: "/*/{id}/pools", Status: 503})
	if status, _, _ := ask(t, p, "POST", "/organizations/o/pools"); status != 503 {
		t.Errorf("status %d", status)
	}
	remove()
	want := garmproxy.Counts{
		{Method: "GET", Template: "/pools", Status: 200}:                     2,
		{Method: "GET", Template: "/pools/{id}", Status: 404}:                1,
		{Method: "POST", Template: "/organizations/{id}/pools", Status: 503}: 1,
	}
	got := p.Counts().Since(before)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if got.Requests() != 4 || got.Writes() != 1 || got.Of("GET", "/pools", 0) != 2 {
		t.Errorf("sums: %d requests, %d writes", got.Requests(), got.Writes())
	}
}

// A request that has had no answer yet is counted when the server sees it, and still once when it has one.
func TestCountsBeforeTheAnswer(t *testing.T) {
	seen, answer := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		seen <- struct{}{}
		<-answer
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(server.Close)
	p, err := garmproxy.Start(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	var wg sync.WaitGroup
	wg.Go(func() { _, _, _ = ask(t, p, "PUT", "/pools/x") })
	<-seen
	want := garmproxy.Key{Method: "PUT", Template: "/pools/{id}"}
	if diff := cmp.Diff(garmproxy.Counts{want: 1}, p.Counts()); diff != "" {
		t.Errorf("counts when the server has the request (-want +got):\n%s", diff)
	}
	close(answer)
	wg.Wait()
	want.Status = http.StatusAccepted
	if diff := cmp.Diff(garmproxy.Counts{want: 1}, p.Counts()); diff != "" {
		t.Errorf("counts when the client has the answer (-want +got):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	b := &backend{answers: map[string]string{"GET /pools": "[]", "POST /pools": "{}"}}
	p := start(t, b)
	t.Run("a number of times", func(t *testing.T) {
		p.Inject(garmproxy.Fault{Template: "/pools", Status: 500, Times: 2})
		var got []int
		for range 3 {
			status, _, _ := ask(t, p, "GET", "/pools")
			got = append(got, status)
		}
		if diff := cmp.Diff([]int{500, 500, 200}, got); diff != "" {
			t.Error(diff)
		}
		p.ClearFaults()
	})
	t.Run("the answer is lost, the work is done", func(t *testing.T) {
		before := b.hit()
		defer p.Inject(garmproxy.Fault{Method: "POST", Late: true, Drop: true})()
		if status, _, err := ask(t, p, "POST", "/pools"); err == nil {
			t.Errorf("status %d", status)
		}
		if b.hit() != before+1 {
			t.Error("the server was not asked")
		}
	})
	t.Run("no answer in time", func(t *testing.T) {
		before := b.hit()
		defer p.Inject(garmproxy.Fault{Hang: true})()
		if _, _, err := ask(t, p, "GET", "/pools"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if b.hit() != before {
			t.Error("the server was asked")
		}
	})
	t.Run("a delay", func(t *testing.T) {
		defer p.Inject(garmproxy.Fault{Delay: 50 * time.Millisecond})()
		begun := time.Now()
		if status, _, err := ask(t, p, "GET", "/pools"); status != 200 || time.Since(begun) < 50*time.Millisecond {
			t.Errorf("status %d, %v", status, err)
		}
	})
	t.Run("refused, and back on the same port", func(t *testing.T) {
		url := p.URL()
		if err := p.Refuse(true); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ask(t, p, "GET", "/pools"); err == nil {
			t.Error("connected")
		}
		if err := p.Refuse(false); err != nil {
			t.Fatal(err)
		}
		if status, _, err := ask(t, p, "GET", "/pools"); status != 200 || p.URL() != url {
			t.Errorf("status %d, %v at %s", status, err, p.URL())
		}
	})
}

func TestDialectV015(t *testing.T) {
	b := &backend{
		answers: map[string]string{
			"GET /controller":            `{"controller_id":"c","version":"v0.2.1","agent_url":"a"}`,
			"GET /organizations":         `[]`,
			"GET /pools":                 `[]`,
			"GET /pools/p":               `{"id":"p","provider_name":"sim","extra_specs":{"b":1.0,"a":"\u003c"},"updated_at":"2026-01-01T00:00:00Z","generation":3,"instances":[{"name":"i","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","provider_name":"sim"}]}`,
			"GET /organizations/o":       `{"id":"o","created_at":"2026-01-01T00:00:00Z","agent_mode":false,"endpoint":{"name":"e","endpoint_type":"github"},"pool_manager_status":{"running":true}}`,
			"GET /github/endpoints":      ` [] `,
			"GET /scalesets":             `[]`,
			"GET /controller-info":       `{"error":"urls_required","details":"other words"}`,
			"GET /repositories/r":        `{"error":"Not Found","details":"no such"}`,
			"POST /repositories/r/pools": `{"error":"Bad Request","details":"max_runners"}`,
		},
		status: map[string]int{"GET /controller-info": 409, "GET /repositories/r": 404, "POST /repositories/r/pools": 400},
	}
	p := start(t, b)
	p.Speak(garmproxy.V015())
	tests := []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/controller", 200, `{"controller_id":"c","version":"v0.1.5"}`},
		{"GET", "/organizations", 200, `null`},
		{"GET", "/github/endpoints/", 404, ``},
		{"GET", "/github/endpoints", 200, `null`},
		{"GET", "/pools", 200, `[]`},
		{"GET", "/pools/p", 200, `{"extra_specs":{"b":1.0,"a":"\u003c"},"id":"p","instances":[{"name":"i","updated_at":"2026-01-01T00:00:00Z"}],"provider_name":"sim"}`},
		{"GET", "/organizations/o", 200, `{"endpoint":{"name":"e"},"id":"o","pool_manager_status":{"running":true}}`},
		{"GET", "/scalesets", 404, `{"details":"Resource not found","error":"Not found"}`},
		{"GET", "/controller-info", 409, `{"error":"urls_required","details":"Missing required URLs. Make sure you update the metadata, callback and webhook URLs"}`},
		{"GET", "/repositories/r", 404, `{"error":"Not Found","details":"no such"}`},
		{"POST", "/repositories/r/pools", 500, `{"error":"Server error","details":""}`},
	}
	b.status["GET /github/endpoints/"] = 404
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			status, body, err := ask(t, p, tt.method, tt.path)
			if status != tt.status || err != nil {
				t.Errorf("status %d, %v", status, err)
			}
			if diff := cmp.Diff(tt.body, body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}
