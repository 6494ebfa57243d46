package operator

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/telemetry/garmmetrics"
)

// garmMetrics are the metrics of the connection to GARM: those of the client, and whether the server is up.
type garmMetrics struct {
	*garmmetrics.Client
	remote.NopMetrics
	up *prometheus.GaugeVec
}

func newMetrics() *garmMetrics {
	return &garmMetrics{Client: garmmetrics.NewClient(), up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "garm_operator_server_up", Help: "1 while the GARM server can be worked with, else 0.",
		ConstLabels: prometheus.Labels{garmmetrics.ControllerLabel: garmmetrics.ControllerValue},
	}, []string{"server"})}
}

// register puts the metrics into the registry that the manager serves. A second operator in the process replaces the
// first one's.
func (m *garmMetrics) register() error {
	for _, c := range []prometheus.Collector{m.Client, m.up} {
		if err := replace(c); err != nil {
			return err
		}
	}
	return nil
}

// replace registers a collector in place of an equal one, as often as others do the same meanwhile.
func replace(c prometheus.Collector) error {
	for {
		err := metrics.Registry.Register(c)
		var twice prometheus.AlreadyRegisteredError
		if !errors.As(err, &twice) {
			return err
		}
		metrics.Registry.Unregister(twice.ExistingCollector)
	}
}

// StateChanged shows whether the server is up.
func (m *garmMetrics) StateChanged(server string, state remote.State) {
	value := 0.0
	if state.Ready() {
		value = 1
	}
	m.up.WithLabelValues(server).Set(value)
}
