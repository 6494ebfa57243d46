package webhook_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/webhook"
)

// Senders that nobody knows yet cannot make the server hold more than a few of the largest payloads; a short one then
// waits until there is room again, but no longer than GitHub would.
func TestPayloadsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := webhook.New(noStore{}, slog.New(slog.DiscardHandler))
		take := func() error {
			return h.Take(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks", strings.NewReader("{}")))
		}
		release, err := h.Fill(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := take(); model.KindOf(err) != model.KindInvalid || time.Since(begun) != 10*time.Second {
			t.Errorf("without room, after %s: %v", time.Since(begun), err)
		}
		done := make(chan error, 1)
		go func() { done <- take() }()
		synctest.Wait()
		release()
		if err := <-done; err != nil {
			t.Errorf("when there is room: %v", err)
		}
		if release, err = h.Fill(t.Context()); err != nil {
			t.Fatal("room was not given back")
		}
		release()
	})
}

// Senders who begin and do not go on take no room from others, and are not waited for long.
func TestSlowPayloadsStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := webhook.New(noStore{}, slog.New(slog.DiscardHandler))
		take := func(w http.ResponseWriter, body io.Reader) error {
			return h.Take(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks", body))
		}
		var waiters []*deadlines
		var senders []*io.PipeWriter
		for range 100 {
			body, sender := io.Pipe() // of no known length
			w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			waiters, senders = append(waiters, w), append(senders, sender)
			go func() { _ = take(w, body) }()
		}
		synctest.Wait()
		if err := take(httptest.NewRecorder(), strings.NewReader("{}")); err != nil {
			t.Errorf("beside slow senders: %v", err)
		}
		for i, w := range waiters {
			if len(w.set) != 1 || time.Until(w.set[0]) != 10*time.Second {
				t.Errorf("a slow sender is waited for until %v", w.set)
			}
			_ = senders[i].Close()
		}
	})
}

// deadlines are what a handler sets for the reading of its connection.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

func TestWebhooksAreCounted(t *testing.T) {
	hooks := newHooks(t)
	var reasons []string
	hooks.Observe = func(reason string) { reasons = append(reasons, reason) }
	for _, test := range []struct{ event, body, signature string }{
		{"ping", "{}", ""},
		{"workflow_job", "{not json", ""},
		{"workflow_job", `{"action":"queued","workflow_job":{"id":1,"html_url":"https://github.com/a/b/runs/1"},"repository":{"name":"b","owner":{"login":"a"}}}`, ""},
		{"workflow_job", `{"action":"queued","workflow_job":{"id":1,"html_url":"https://github.com/acme/widgets/runs/1"},"repository":{"name":"widgets","owner":{"login":"acme"}}}`, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks", strings.NewReader(test.body))
		r.Header.Set("X-Github-Event", test.event)
		r.Header.Set("X-Github-Hook-Installation-Target-Type", "repository")
		_ = hooks.Take(httptest.NewRecorder(), r)
	}
	if got := strings.Join(reasons, " "); got != "unknown owner_unknown signature_invalid" {
		t.Errorf("reasons: %s", got)
	}
}
