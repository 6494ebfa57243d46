package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// readTimeout bounds the reading of the caches.
const readTimeout = 10 * time.Second

// Source is where the gauges come from.
type Source struct {
	// Reader reads from the manager's cache. Only kinds that are watched anyway are asked for.
	Reader client.Reader
	// Session keeps the GARM server.
	Session interface {
		State() remote.State
		View() *remote.View
	}
	// Leads is closed when this process acts. Before, others know better, and nothing is shown.
	Leads <-chan struct{}
	// Context ends with the caches; after that nothing is shown.
	Context context.Context //nolint:containedctx // the interface of collectors has none
}

// State shows what the caches hold: the resources, their Pools' runners, and the server. Use it with one registry.
type State struct{ source Source }

// NewState makes the collector of one operator.
func NewState(source Source) *State { return &State{source} }

// Describe is part of prometheus.Collector.
func (*State) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		serverUp, serverInfo, serverEvents,
		resources, notReadySince, deleting, deletingSince,
		poolEnabled, poolMinIdle, poolMax, poolLongIdle, poolRunners,
	} {
		out <- d
	}
}

// Collect is part of prometheus.Collector.
func (s *State) Collect(out chan<- prometheus.Metric) {
	select {
	case <-s.source.Leads:
	default:
		return
	}
	if s.source.Context.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.source.Context, readTimeout)
	defer cancel()
	s.server(sink(out))
	if err := s.resources(ctx, sink(out)); err != nil && s.source.Context.Err() == nil {
		out <- prometheus.NewInvalidMetric(resources, err)
	}
}
