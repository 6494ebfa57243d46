package metrics

import "github.com/prometheus/client_golang/prometheus"

// Label and value that every metric of the operator carries.
const (
	ControllerLabel = "controller"
	ControllerValue = "garm_operator"
)

// Prefix begins the names of the metrics of this package.
const Prefix = "garm_operator_"

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(Prefix+name, help, labels, prometheus.Labels{ControllerLabel: ControllerValue})
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: Prefix + name, Help: help, ConstLabels: prometheus.Labels{ControllerLabel: ControllerValue},
	}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: Prefix + name, Help: help, ConstLabels: prometheus.Labels{ControllerLabel: ControllerValue},
	}, labels)
}

// sink takes gauges that are computed when they are asked for.
type sink chan<- prometheus.Metric

func (s sink) set(d *prometheus.Desc, value float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func number(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
