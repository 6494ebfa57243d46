package rest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// follower is a client of the event stream.
type follower struct {
	events chan garm.Event
	ended  chan error
}

// follow opens the event stream with a filter, and returns once the server has taken the filter: it answers a ping only
// after it has taken what came before.
func (s *server) follow(t *testing.T, filter string) *follower {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), s.URL+"/api/v1/ws/events", &websocket.DialOptions{HTTPHeader: map[string][]string{"Authorization": {"Bearer " + s.token}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	f := &follower{events: make(chan garm.Event, 1000), ended: make(chan error, 1)}
	go func() {
		for {
			var event garm.Event
			_, frame, err := conn.Read(t.Context())
			if err == nil {
				err = json.Unmarshal(frame, &event)
			}
			if err != nil {
				f.ended <- err
				return
			}
			f.events <- event
		}
	}()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(filter)); err != nil {
		t.Fatal(err)
	}
	_ = conn.Ping(t.Context()) // fails where the filter ends the stream, which the test then looks at
	return f
}

// next waits for an event, or for the end of the stream.
func (f *follower) next(t *testing.T) (garm.Event, error) {
	t.Helper()
	select {
	case event := <-f.events:
		return event, nil
	case err := <-f.ended:
		return garm.Event{}, err
	case <-time.After(20 * time.Second):
		t.Fatal("no event came")
		return garm.Event{}, nil
	}
}

// setBackoff changes the controller in a way that its events show.
func (s *server) setBackoff(t *testing.T, seconds int) {
	t.Helper()
	_, err := s.store.UpdateController(t.Context(), func(c *model.Controller) error { c.JobBackoff = time.Duration(seconds) * time.Second; return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func TestEventsAreOrdered(t *testing.T) {
	s := ready(t, nil)
	stream := s.follow(t, `{"send-everything": true}`)
	for i := range 200 {
		s.setBackoff(t, 100+i)
	}
	for i := range 200 {
		event, err := stream.next(t)
		if err != nil {
			t.Fatal(err)
		}
		var info garm.ControllerInfo
		if err := json.Unmarshal(event.Payload, &info); err != nil || info.MinimumJobAgeBackoff != uint(100+i) {
			t.Fatalf("event %d is %s: %v", i, event.Payload, err)
		}
	}
}

func TestEventStreamEnds(t *testing.T) {
	for name, c := range map[string]struct {
		frame string
		code  websocket.StatusCode
	}{
		"not JSON":            {"{not json", websocket.StatusNormalClosure},
		"unknown entity":      {`{"filters":[{"entity-type":"nonsense"}]}`, websocket.StatusNormalClosure},
		"unknown operation":   {`{"filters":[{"entity-type":"pool","operations":["explode"]}]}`, websocket.StatusNormalClosure},
		"SV-17 a huge filter": {`{"filters":[` + strings.Repeat(" ", 2<<20) + `]}`, websocket.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready(t, nil)
			stream := s.follow(t, c.frame)
			_, err := stream.next(t)
			var closed websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != c.code {
				t.Errorf("the stream ends with %v, want code %d", err, c.code)
			}
		})
	}
	t.Run("SV-17 a large filter is fine", func(t *testing.T) {
		s := ready(t, nil)
		stream := s.follow(t, `{"filters":[{"entity-type":"controller"}`+strings.Repeat(`,{"entity-type":"pool"}`, 2000)+`]}`)
		s.setBackoff(t, 99)
		if _, err := stream.next(t); err != nil {
			t.Error(err)
		}
	})
	t.Run("the user has changed", func(t *testing.T) {
		s := ready(t, nil)
		stream := s.follow(t, `{"send-everything": true}`)
		user, err := s.store.UserByLogin(t.Context(), "admin")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.UpdateUser(t.Context(), user.ID, func(u *model.User) error { u.Enabled = false; return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.next(t); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("the stream of a disabled user ends with %v", err)
		}
	})
	t.Run("the token expires", func(t *testing.T) {
		s := ready(t, nil)
		user, err := s.store.UserByLogin(t.Context(), "admin")
		if err != nil {
			t.Fatal(err)
		}
		s.tokens.Life = 2 * time.Second
		if s.token, err = s.tokens.UserToken(user); err != nil {
			t.Fatal(err)
		}
		stream := s.follow(t, `{"send-everything": true}`)
		if _, err := stream.next(t); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("the stream of an expired token ends with %v", err)
		}
	})
	t.Run("changes were missed", func(t *testing.T) {
		s := ready(t, nil)
		stream := s.follow(t, `{"send-everything": true}`)
		s.hub.Close()
		if _, err := stream.next(t); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
			t.Errorf("a reader that missed changes is told %v", err)
		}
	})
}

func TestDeletedObjectsKeepTheirName(t *testing.T) {
	s := ready(t, nil)
	stream := s.follow(t, `{"filters":[{"entity-type":"github_endpoint","operations":["delete"]},{"entity-type":"controller"}]}`)
	if err := s.store.DeleteEndpoint(t.Context(), "github.com"); err != nil {
		t.Fatal(err)
	}
	event, err := stream.next(t)
	if err != nil || !bytes.Contains(event.Payload, []byte(`"name":"github.com"`)) {
		t.Errorf("the payload is %s, %v", event.Payload, err)
	}
}
