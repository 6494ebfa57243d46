package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/access"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Events counts what happens between two looks. It is what a session is given as its metrics.
type Events struct {
	remote.NopMetrics
	drift   *prometheus.CounterVec
	errors  *prometheus.CounterVec
	synced  *prometheus.GaugeVec
	missing *prometheus.GaugeVec
}

var (
	_ remote.Metrics       = (*Events)(nil)
	_ prometheus.Collector = (*Events)(nil)
)

// NewEvents makes the counters of one operator.
func NewEvents() *Events {
	return &Events{
		drift:   counter("drift_total", "Fields that were in force at the GARM server and then found to differ from what the resource wants.", "kind", "field"),
		errors:  counter("reconcile_errors_total", "Passes over a resource that failed, by the reason that its condition Ready then has.", "kind", "reason"),
		synced:  gauge("last_sync_timestamp_seconds", "When objects of a kind were last listed at the GARM server or told of by an event, in Unix seconds.", "server", "kind"),
		missing: gauge("permissions_missing", "On how many objects the operator may not do what keeping the certificate of its webhooks takes.", "verb", "resource"),
	}
}

// Listed notes when a kind was last in step with the server.
func (e *Events) Listed(server string, kind remote.Kind, _ int, _ time.Duration, err error) {
	if err == nil {
		e.now(server, kind)
	}
}

// EventReceived does the same for events that could be read.
func (e *Events) EventReceived(server string, kind remote.Kind, _ garm.Operation, result remote.EventResult) {
	if result != remote.EventInvalid {
		e.now(server, kind)
	}
}

func (e *Events) now(server string, kind remote.Kind) {
	e.synced.WithLabelValues(server, string(kind)).Set(float64(time.Now().UnixMilli()) / 1000)
}

// Drifted counts fields of one object.
func (e *Events) Drifted(kind string, fields []string) {
	for _, f := range fields {
		e.drift.WithLabelValues(kind, f).Inc()
	}
}

// PermissionsMissing shows which rights are missing, in place of those before.
func (e *Events) PermissionsMissing(rights []access.Right) {
	e.missing.Reset()
	for _, r := range rights {
		e.missing.WithLabelValues(r.Verb, r.Resource).Inc()
	}
}

// Failed counts a pass.
func (e *Events) Failed(kind, reason string) { e.errors.WithLabelValues(kind, reason).Inc() }

// Describe is part of prometheus.Collector.
func (e *Events) Describe(out chan<- *prometheus.Desc) {
	for _, c := range e.all() {
		c.Describe(out)
	}
}

// Collect is part of prometheus.Collector.
func (e *Events) Collect(out chan<- prometheus.Metric) {
	for _, c := range e.all() {
		c.Collect(out)
	}
}

func (e *Events) all() []prometheus.Collector {
	return []prometheus.Collector{e.drift, e.errors, e.synced, e.missing}
}
