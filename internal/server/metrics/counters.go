package metrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Counters count what the server does. All of their labels have few values.
type Counters struct {
	webhooks                  *prometheus.CounterVec
	runnerCalls, runnerErrors *prometheus.CounterVec
	forgeCalls, forgeErrors   *prometheus.CounterVec
}

// webhookReasons are what Webhook is told.
var webhookReasons = []string{"", "owner_unknown", "signature_invalid", "unknown"}

// NewCounters makes counters that stand at nothing. Those of webhooks are there from the start, so that the first webhook
// is an increase.
func NewCounters() *Counters {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "garm_" + name, Help: help}, labels)
	}
	c := &Counters{
		webhooks:     counter("webhook_received", "Webhooks about jobs.", "valid", "reason"),
		runnerCalls:  counter("runner_operations_total", "Runs of a provider's program.", "operation", "provider"),
		runnerErrors: counter("runner_errors_total", "Runs of a provider's program that failed.", "operation", "provider"),
		forgeCalls:   counter("github_operations_total", "Calls to a forge.", "operation", "scope"),
		forgeErrors:  counter("github_errors_total", "Calls to a forge that failed.", "operation", "scope"),
	}
	for _, reason := range webhookReasons {
		c.webhookOf(reason)
	}
	return c
}

func (c *Counters) all() []prometheus.Collector {
	return []prometheus.Collector{c.webhooks, c.runnerCalls, c.runnerErrors, c.forgeCalls, c.forgeErrors}
}

// Webhook counts a webhook about a job. Reason says why it is not valid, and is empty else.
func (c *Counters) Webhook(reason string) {
	c.webhookOf(reason).Inc()
}

func (c *Counters) webhookOf(reason string) prometheus.Counter {
	return c.webhooks.WithLabelValues(strconv.FormatBool(reason == ""), reason)
}

// Provider counts a run of a provider's program.
func (c *Counters) Provider(operation, provider string, err error) {
	count(c.runnerCalls, c.runnerErrors, err, operation, provider)
}

// Forge counts a call to a forge.
func (c *Counters) Forge(operation string, kind model.EntityKind, err error) {
	scope := string(kind)
	if scope != "" {
		scope = strings.ToUpper(scope[:1]) + scope[1:]
	}
	count(c.forgeCalls, c.forgeErrors, err, operation, scope)
}

func count(calls, errors *prometheus.CounterVec, err error, labels ...string) {
	calls.WithLabelValues(labels...).Inc()
	if err != nil {
		errors.WithLabelValues(labels...).Inc()
	}
}
