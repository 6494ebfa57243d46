package operator

import (
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	operatormetrics "github.com/garm-operator/garm-operator/internal/operator/metrics"
	"github.com/garm-operator/garm-operator/internal/telemetry/garmmetrics"
	"github.com/garm-operator/garm-operator/internal/telemetry/metricsauth"
)

// collectors are the operator's own metrics, for a registry.
type collectors struct {
	client *garmmetrics.Client
	events *operatormetrics.Events
}

func newCollectors() *collectors {
	return &collectors{client: garmmetrics.NewClient(), events: operatormetrics.NewEvents()}
}

// register puts the metrics into the registry that the manager serves. A second operator in the process replaces the
// first one's.
func (c *collectors) register(state *operatormetrics.State) error {
	return errors.Join(replace(c.client), replace(c.events), replace(state))
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

// metricsServer says how metrics are served: to everybody, or with TLS to those whose token the API server knows and
// whose role allows them to get /metrics.
func metricsServer(cfg operatorconfig.Operator) metricsserver.Options {
	o := metricsserver.Options{
		BindAddress: cfg.MetricsBindAddress,
		// One metric that cannot be read must not hide the others.
		HandlerOpts: []func(*promhttp.HandlerOpts){func(h *promhttp.HandlerOpts) { h.ErrorHandling = promhttp.ContinueOnError }},
	}
	if !cfg.MetricsSecure {
		return o
	}
	o.SecureServing, o.CertDir = true, cfg.MetricsCertDir
	o.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.MinVersion, c.NextProtos = tls.VersionTLS12, []string{"h2", "http/1.1"} }}
	o.FilterProvider = func(c *rest.Config, _ *http.Client) (metricsserver.Filter, error) {
		filter, err := metricsauth.New(c)
		if err != nil {
			return nil, err
		}
		return func(_ logr.Logger, next http.Handler) (http.Handler, error) { return filter.Wrap(next), nil }, nil
	}
	return o
}
