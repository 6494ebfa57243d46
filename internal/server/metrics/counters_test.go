package metrics_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/metrics"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Failures of providers and forges are seen.
func TestSV47Counters(t *testing.T) {
	counters := metrics.NewCounters()
	counters.Webhook("")
	counters.Webhook("signature_invalid")
	counters.Provider("CreateInstance", "sim", nil)
	counters.Provider("CreateInstance", "sim", errors.New("no"))
	forges := metrics.Forges{Forges: &forgetest.Forge{}, Counters: counters}
	f, err := forges.Forge(t.Context(), model.Entity{Kind: model.KindOrganization})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Runners(t.Context())
	_, _ = f.Runner(t.Context(), 7)
	hooks := metrics.Webhooks{Webhooks: &forgetest.Webhooks{}, Counters: counters, Kind: model.KindRepository}
	_, _ = hooks.List(t.Context())
	w := httptest.NewRecorder()
	metrics.Handler(metrics.Options{
		Source: source{}, Health: func(model.EntityID) model.EntityHealth { return model.EntityHealth{} }, Counters: counters, Log: slog.New(slog.DiscardHandler),
	}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`garm_webhook_received{reason="",valid="true"} 1`, `garm_webhook_received{reason="signature_invalid",valid="false"} 1`,
		`garm_webhook_received{reason="owner_unknown",valid="false"} 0`, `garm_webhook_received{reason="unknown",valid="false"} 0`,
		`garm_runner_operations_total{operation="CreateInstance",provider="sim"} 2`, `garm_runner_errors_total{operation="CreateInstance",provider="sim"} 1`,
		`garm_github_operations_total{operation="ListRunners",scope="Organization"} 1`, `garm_github_operations_total{operation="ListWebhooks",scope="Repository"} 1`,
		`garm_github_errors_total{operation="GetRunner",scope="Organization"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}
