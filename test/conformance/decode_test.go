package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
)

var releases = []string{"v0.1.5", "v0.2.1"}

// recorded answers every request with a recording, apart from the login that comes before it.
type recorded struct {
	exchange exchange
	asked    []string
}

func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := r.exchange.Status, r.exchange.text()
	if req.URL.Path == "/api/v1/auth/login" {
		status, body = 200, []byte(`{"token":"t"}`)
	} else {
		r.asked = append(r.asked, req.Method+" "+strings.TrimPrefix(req.URL.Path, "/api/v1"))
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

func clientOf(t *testing.T, transport http.RoundTripper) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{
		BaseURL: "http://garm.example.com", Username: "admin", Password: client.Password("p"), Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRecordedAnswers has the client ask for every recorded answer. What it makes of it says what the answer said: the
// contract leaves no recorded key out.
func TestRecordedAnswers(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			count := 0
			for _, e := range read(t, release) {
				if e.Method == "WS" || e.Status < 200 || e.Status > 299 || !strings.HasPrefix(e.Path, "/api/v1/") {
					continue
				}
				r, ids, ok := find(e.Method, e.route())
				if !ok {
					if e.ResponseKind == "json" && !foreign.MatchString(e.route()) {
						t.Errorf("%d: %s %s has a JSON answer and no route here", e.Seq, e.Method, e.Path)
					}
					continue
				}
				count++
				t.Run(fmt.Sprint(e.Seq), func(t *testing.T) { checkAnswer(t, e, r, ids) })
			}
			if count < 200 {
				t.Errorf("only %d answers were read", count)
			}
		})
	}
}

func checkAnswer(t *testing.T, e exchange, r route, ids []string) {
	t.Helper()
	var value any
	var err error
	if r.decode != nil {
		value, err = r.decode(e.text())
	} else {
		server := &recorded{exchange: e}
		value, err = r.call(t.Context(), clientOf(t, server), ids, e.RequestBody)
		if want := e.Method + " " + e.route(); len(server.asked) != 1 || server.asked[0] != want {
			t.Errorf("the client asked for %q, want %q", server.asked, want)
		}
	}
	if err != nil {
		t.Fatalf("%s %s: %v", e.Method, e.Path, err)
	}
	if value == nil {
		return
	}
	for _, difference := range differences(t, e.text(), value) {
		t.Errorf("%s %s: %s", e.Method, e.Path, difference)
	}
}

// differences compares an answer with what a value that was read from it is written as.
func differences(t *testing.T, answer []byte, value any) []string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(answer, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	return diff(fmt.Sprintf("%T", value), want, got)
}

// diff lists what want has and got has not. Null, absent and empty are the same.
func diff(place string, want, got any) []string {
	if empty(want) && empty(got) {
		return nil
	}
	var found []string
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for key, value := range w {
			found = append(found, diff(place+"."+key, value, g[key])...)
		}
		return found
	case []any:
		g, _ := got.([]any)
		if len(w) != len(g) {
			return []string{fmt.Sprintf("%s has %d elements, want %d", place, len(g), len(w))}
		}
		for i := range w {
			found = append(found, diff(fmt.Sprintf("%s[%d]", place, i), w[i], g[i])...)
		}
		return found
	}
	if want != got {
		return []string{fmt.Sprintf("%s is %v, want %v", place, got, want)}
	}
	return nil
}

func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == "" || x == time.Time{}.Format(time.RFC3339)
	case float64:
		return x == 0
	case bool:
		return !x
	case []any:
		return len(x) == 0
	case map[string]any:
		for _, value := range x {
			if !empty(value) {
				return false
			}
		}
		return true
	}
	return false
}

// TestRecordedRefusals has the client meet every recorded answer that is no success.
func TestRecordedRefusals(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			count := 0
			for _, e := range read(t, release) {
				if e.Method == "WS" || e.Status < 300 {
					continue
				}
				// How a refusal is classified does not depend on the route, so that those of routes without a method are
				// met on another one.
				r, ids, ok := find(e.Method, e.route())
				if !ok || r.call == nil {
					r, ids, _ = find(http.MethodGet, "/pools/x")
				}
				count++
				_, err := r.call(t.Context(), clientOf(t, &recorded{exchange: e}), ids, e.RequestBody)
				if want := kindOf(t, e); garm.KindOf(err) != want {
					t.Errorf("%d: %s %s, status %d: kind %q, want %q: %v", e.Seq, e.Method, e.Path, e.Status, garm.KindOf(err), want, err)
				}
			}
			if count < 150 {
				t.Errorf("only %d refusals were met", count)
			}
		})
	}
}

func kindOf(t *testing.T, e exchange) garm.ErrorKind {
	t.Helper()
	var said garm.ErrorBody
	_ = json.Unmarshal(e.ResponseBody, &said)
	kinds := map[string]garm.ErrorKind{
		"400 Bad Request":           garm.KindInvalid,
		"401 Authentication failed": garm.KindUnauthorized,
		"401 Not Authorized":        garm.KindUnauthorized,
		"404 Not Found":             garm.KindNotFound,
		"404 Not found":             garm.KindNoRoute,
		"404 ":                      garm.KindUndecodable,
		"405 ":                      garm.KindNoRoute,
		"409 Conflict":              garm.KindConflict,
		"409 init_required":         garm.KindInitRequired,
		"409 urls_required":         garm.KindURLsRequired,
		"500 Server error":          garm.KindUnavailable,
	}
	kind, ok := kinds[fmt.Sprintf("%d %s", e.Status, said.Error)]
	if !ok {
		t.Fatalf("%d: status %d with title %q is in no table", e.Seq, e.Status, said.Error)
	}
	return kind
}

// TestRecordedEvents reads every recorded frame of the event stream, and the object in it.
func TestRecordedEvents(t *testing.T) {
	objects := map[garm.EntityType]func([]byte) (any, error){
		garm.EntityTypeRepository: as[garm.Repository], garm.EntityTypeOrganization: as[garm.Organization],
		garm.EntityTypeEnterprise: as[garm.Enterprise], garm.EntityTypePool: as[garm.Pool],
		garm.EntityTypeUser: as[garm.User], garm.EntityTypeInstance: as[garm.Instance], garm.EntityTypeJob: as[garm.Job],
		garm.EntityTypeController: as[garm.ControllerInfo], garm.EntityTypeCredentials: as[garm.Credentials],
		garm.EntityTypeEndpoint: as[garm.Endpoint],
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			count := 0
			for _, e := range read(t, release) {
				for _, frame := range e.Frames {
					count++
					var event garm.Event
					if err := json.Unmarshal(frame, &event); err != nil {
						t.Fatalf("%d: %v", e.Seq, err)
					}
					object, ok := objects[event.EntityType]
					if !ok {
						t.Errorf("%d: unknown kind of object %q", e.Seq, event.EntityType)
						continue
					}
					value, err := object(event.Payload)
					if err != nil {
						t.Errorf("%d: %v", e.Seq, err)
						continue
					}
					for _, difference := range differences(t, event.Payload, value) {
						t.Errorf("%d: %s", e.Seq, difference)
					}
				}
			}
			if count == 0 {
				t.Error("no event was read")
			}
		})
	}
}
