package operator

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// clientMetrics are the metrics of the connection to GARM, under the names that dashboards know.
type clientMetrics struct {
	remote.NopMetrics
	expiry   prometheus.Gauge
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	up       *prometheus.GaugeVec
}

func newMetrics() *clientMetrics {
	constant := prometheus.Labels{"controller": "garm_operator"}
	return &clientMetrics{
		expiry: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "garm_operator_client_jwt_expiration_timestamp_seconds", ConstLabels: constant,
			Help: "When the present token expires, in Unix seconds.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "garm_operator_client_api_requests_total", ConstLabels: constant, Help: "Calls to the GARM server.",
		}, []string{"method"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "garm_operator_client_api_requests_errors_total", ConstLabels: constant, Help: "Failed calls to the GARM server.",
		}, []string{"method"}),
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "garm_operator_server_up", ConstLabels: constant, Help: "1 while the GARM server can be worked with, else 0.",
		}, []string{"server"}),
	}
}

// register puts the metrics into the registry that the manager serves. A second operator in the process replaces the
// first one's.
func (m *clientMetrics) register() error {
	for _, c := range []prometheus.Collector{m.expiry, m.requests, m.errors, m.up} {
		err := metrics.Registry.Register(c)
		var twice prometheus.AlreadyRegisteredError
		if errors.As(err, &twice) {
			metrics.Registry.Unregister(twice.ExistingCollector)
			err = metrics.Registry.Register(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *clientMetrics) Request(method string) { m.requests.WithLabelValues(method).Inc() }

func (m *clientMetrics) Error(method string) { m.errors.WithLabelValues(method).Inc() }

func (m *clientMetrics) TokenExpiry(at time.Time) { m.expiry.Set(float64(at.Unix())) }

// StateChanged shows whether the server is up.
func (m *clientMetrics) StateChanged(server string, state remote.State) {
	value := 0.0
	if state.Ready() {
		value = 1
	}
	m.up.WithLabelValues(server).Set(value)
}
