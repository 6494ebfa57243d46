package client_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
)

// wsServer serves the stub under /base with TLS, and the event stream by serve.
func wsServer(t *testing.T, s *stub, serve func(ctx context.Context, conn *websocket.Conn, filter []byte), change ...func(*client.Config)) *client.Client {
	t.Helper()
	upgrade := func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.CloseNow() }()
		if _, filter, err := conn.Read(r.Context()); err == nil {
			serve(r.Context(), conn, filter)
		}
	}
	known := func(r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, ok := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		return ok
	}
	server := httptest.NewTLSServer(http.StripPrefix("/base", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/ws/events" && known(r) {
			upgrade(w, r)
			return
		}
		s.ServeHTTP(w, r)
	})))
	t.Cleanup(server.Close)
	return clientOf(t, nil, append(change, func(c *client.Config) {
		c.BaseURL = server.URL + "/base/"
		c.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	})...)
}

var poolFilter = garm.EventFilter{Filters: []garm.EventClause{{EntityType: garm.EntityTypePool}}}

func TestEvents(t *testing.T) {
	const frame = `{"entity-type":"pool","operation":"update","payload":{"id":"p"}}`
	s := newStub()
	filters := make(chan string, 2)
	c := wsServer(t, s, func(ctx context.Context, conn *websocket.Conn, filter []byte) {
		filters <- string(filter)
		_ = conn.Write(ctx, websocket.MessageText, []byte(frame))
		_ = conn.Close(websocket.StatusNormalClosure, "token expired")
	})
	if _, err := c.ListPools(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The server no longer knows the token: the stream needs a login.
	s.mu.Lock()
	s.tokens = map[string]time.Time{}
	s.mu.Unlock()

	stream, err := c.Events(t.Context(), poolFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if got, want := <-filters, `{"send-everything":false,"filters":[{"entity-type":"pool"}]}`; got != want {
		t.Errorf("filter %s, want %s", got, want)
	}
	event, err := stream.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := garm.Event{EntityType: garm.EntityTypePool, Operation: garm.OperationUpdate, Payload: json.RawMessage(`{"id":"p"}`)}
	if d := cmp.Diff(want, event); d != "" {
		t.Error(d)
	}
	if _, err := stream.Next(t.Context()); garm.KindOf(err) != garm.KindTransport || !strings.Contains(err.Error(), "ended the stream") {
		t.Errorf("after the server closed: %v", err)
	}
	if s.logins != 2 {
		t.Errorf("%d logins, want 2", s.logins)
	}
}

func TestEventsFindAHalfOpenSocket(t *testing.T) {
	impatient := func(c *client.Config) { c.PingInterval, c.PongTimeout = 20*time.Millisecond, 200*time.Millisecond }
	stop := make(chan struct{})
	c := wsServer(t, newStub(), func(context.Context, *websocket.Conn, []byte) { <-stop }, impatient)
	defer close(stop)
	stream, err := c.Events(t.Context(), poolFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := stream.Next(ctx); garm.KindOf(err) != garm.KindTimeout || !strings.Contains(err.Error(), "ping") {
		t.Errorf("got %v, want the missing answer to a ping", err)
	}
}

func TestEventsOutliveTheirOpening(t *testing.T) {
	send := make(chan struct{})
	c := wsServer(t, newStub(), func(ctx context.Context, conn *websocket.Conn, _ []byte) {
		ctx = conn.CloseRead(ctx)
		<-send
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"entity-type":"job","operation":"create","payload":{}}`))
		<-ctx.Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.Events(ctx, poolFilter)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	close(send)
	if event, err := stream.Next(t.Context()); err != nil || event.EntityType != garm.EntityTypeJob {
		t.Errorf("%v, %v", event, err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	if _, err := stream.Next(t.Context()); err == nil {
		t.Error("a closed stream goes on")
	}
}

func TestEventsBehindAProxyWithoutThem(t *testing.T) {
	for status, want := range map[int]garm.ErrorKind{
		200: garm.KindUndecodable, 404: garm.KindUndecodable, 502: garm.KindUnavailable, 403: garm.KindUnauthorized,
	} {
		s := newStub()
		s.handle = text(status, "<html>proxy</html>")
		if _, err := clientOf(t, s).Events(t.Context(), poolFilter); garm.KindOf(err) != want {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
