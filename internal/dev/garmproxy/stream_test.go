package garmproxy_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// listen opens the event stream through the proxy and returns what comes, until the stream ends.
func listen(t *testing.T, p *garmproxy.Proxy) (*websocket.Conn, <-chan string) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), p.URL()+"/api/v1/ws/events", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	came := make(chan string, 1000)
	go func() {
		defer close(came)
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			came <- string(data)
		}
	}()
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn, came
}

// until collects what comes up to and with the last one.
func until(t *testing.T, came <-chan string, last string) []string {
	t.Helper()
	var got []string
	for {
		select {
		case e, ok := <-came:
			if !ok {
				t.Fatalf("the stream ended after %v", got)
			}
			got = append(got, e)
			if e == last {
				return got
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s did not come; there came %v", last, got)
		}
	}
}

func TestEventFaults(t *testing.T) {
	b := &backend{}
	p := start(t, b)
	_, came := listen(t, p)
	var sent []string
	for i := range 50 {
		sent = append(sent, fmt.Sprint(i))
	}
	send := func() {
		for _, e := range sent {
			b.events <- e
		}
	}
	send()
	if diff := cmp.Diff(sent, until(t, came, "49")); diff != "" {
		t.Errorf("without a fault (-want +got):\n%s", diff)
	}

	p.SetEventFaults(garmproxy.EventFaults{Drop: 0.3, Seed: 1})
	send()
	b.events <- "end"
	got := 0
	for ended := false; !ended; {
		select {
		case e := <-came:
			got++
			ended = e == "end"
		case <-time.After(100 * time.Millisecond):
			b.events <- "end"
		}
	}
	if got < 2 || got > 50 {
		t.Errorf("of 51 events of which some are dropped there came %d", got)
	}
	p.SetEventFaults(garmproxy.EventFaults{Duplicate: 1})
	b.events <- "twice"
	b.events <- "next"
	if got := until(t, came, "next"); !cmp.Equal(got, []string{"twice", "twice", "next"}) {
		t.Errorf("there came %v", got)
	}
	until(t, came, "next")
	p.SetEventFaults(garmproxy.EventFaults{Reorder: 1})
	b.events <- "first"
	b.events <- "second"
	if got := until(t, came, "first"); !cmp.Equal(got, []string{"second", "first"}) {
		t.Errorf("there came %v", got)
	}
}

func TestHalfOpenStream(t *testing.T) {
	b := &backend{}
	p := start(t, b)
	conn, came := listen(t, p)
	p.HalfOpen()
	b.events <- "lost"
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := conn.Ping(ctx); err == nil {
		t.Error("a half-open stream answers a ping")
	}
	select {
	case e, ok := <-came:
		t.Errorf("there came %q, open %t", e, ok)
	default:
	}
}

func TestStreamsCanBeClosedAndRefused(t *testing.T) {
	p := start(t, &backend{})
	_, came := listen(t, p)
	if p.Streams() != 1 {
		t.Errorf("%d streams", p.Streams())
	}
	p.CloseStreams()
	select {
	case _, ok := <-came:
		if ok {
			t.Error("an event came")
		}
	case <-time.After(5 * time.Second):
		t.Error("the stream is still open")
	}
	_, resp, err := websocket.Dial(t.Context(), p.URL()+"/api/v1/ws/events", nil)
	if err == nil || resp.StatusCode != 401 {
		t.Errorf("without a token: %v", err)
	}
	p.SetEventFaults(garmproxy.EventFaults{Refuse: 404})
	_, resp, err = websocket.Dial(t.Context(), p.URL()+"/api/v1/ws/events", nil)
	if err == nil || resp.StatusCode != 404 {
		t.Errorf("refused: %v", err)
	}
}

func TestEventsInDialectV015(t *testing.T) {
	b := &backend{}
	p := start(t, b)
	p.Speak(garmproxy.V015())
	_, came := listen(t, p)
	entity := `{"entity-type":"organization","operation":"update","payload":{"id":"o","name":"%s","pool_manager_status":{"running":%t},"updated_at":"2026-01-01T00:00:00Z"}}`
	b.events <- fmt.Sprintf(entity, "a", true)
	b.events <- fmt.Sprintf(entity, "a", false)
	b.events <- `{"entity-type":"scaleset","operation":"create","payload":{}}`
	b.events <- fmt.Sprintf(entity, "b", false)
	last := `{"entity-type":"organization","operation":"update","payload":{"id":"o","name":"b","pool_manager_status":{"running":false}}}`
	want := []string{
		`{"entity-type":"organization","operation":"update","payload":{"id":"o","name":"a","pool_manager_status":{"running":true}}}`,
		last,
	}
	if diff := cmp.Diff(want, until(t, came, last)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
