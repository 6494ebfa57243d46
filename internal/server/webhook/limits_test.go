package webhook_test

import (
	"context"
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
// waits until there is room again.
func TestPayloadsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := webhook.New(noStore{}, slog.New(slog.DiscardHandler))
		take := func(ctx context.Context, body io.Reader) error {
			return h.Take(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/webhooks", body))
		}
		var senders []*io.PipeWriter
		for range 4 {
			body, sender := io.Pipe() // of no known length, and slow
			senders = append(senders, sender)
			go func() { _ = take(t.Context(), body) }()
		}
		synctest.Wait()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := take(impatient, strings.NewReader("{}")); model.KindOf(err) != model.KindInvalid {
			t.Errorf("there is room for one more: %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- take(t.Context(), strings.NewReader("{}")) }()
		synctest.Wait()
		_ = senders[0].Close()
		if err := <-done; err != nil {
			t.Errorf("after one has gone: %v", err)
		}
		for _, sender := range senders {
			_ = sender.Close()
		}
	})
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
