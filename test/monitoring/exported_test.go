package monitoring_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	operatormetrics "github.com/garm-operator/garm-operator/internal/operator/metrics"
	servermetrics "github.com/garm-operator/garm-operator/internal/server/metrics"
	servermodel "github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/telemetry/garmmetrics"
)

// metricLabels are the labels that a program gives to a metric: the names of those that differ between series, and those
// that are the same on all.
type metricLabels struct {
	variable []string
	constant map[string]string
}

var description = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", .*, constLabels: \{(?:(\w+)="(\w+)")?\}, variableLabels: \{([^}]*)\}\}$`)

// exported are the metrics of the operator and of the server, by name: those that they describe, and those of a server
// to which a thing has happened of each kind that it counts.
func exported(t *testing.T) map[string]metricLabels {
	t.Helper()
	found := map[string]metricLabels{}
	for name, family := range serverFamilies(t) {
		var has metricLabels
		for _, l := range family.GetMetric()[0].GetLabel() {
			has.variable = append(has.variable, l.GetName())
		}
		found[name] = has
	}
	descs := make(chan *prometheus.Desc, 100)
	for _, c := range []prometheus.Collector{
		garmmetrics.NewClient(), operatormetrics.NewEvents(), operatormetrics.NewState(operatormetrics.Source{}),
	} {
		c.Describe(descs)
	}
	close(descs)
	for d := range descs {
		parts := description.FindStringSubmatch(d.String())
		if parts == nil {
			t.Fatalf("%s is not understood", d)
		}
		has := metricLabels{constant: map[string]string{}}
		if parts[2] != "" {
			has.constant[parts[2]] = parts[3]
		}
		if parts[4] != "" {
			has.variable = strings.Split(parts[4], ",")
		}
		found[parts[1]] = has
	}
	return found
}

// serverFamilies are the metrics of a server without resources that has refused a webhook, and whose provider and forge
// have failed.
func serverFamilies(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	counters := servermetrics.NewCounters()
	counters.Webhook("signature_invalid")
	counters.Provider("CreateInstance", "machines", errors.New("no machine is left"))
	counters.Forge("CreateJITConfig", servermodel.KindOrganization, errors.New("no runner group"))
	w := httptest.NewRecorder()
	servermetrics.Handler(servermetrics.Options{Source: noResources{}, Counters: counters, Log: slog.New(slog.DiscardHandler)}).
		ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return families(t, w.Body.Bytes())
}

type noResources struct{}

func (noResources) Controller(context.Context) (c servermodel.Controller, err error) { return c, nil }

func (noResources) Entities(context.Context) ([]servermodel.Entity, error) { return nil, nil }

func (noResources) Pools(context.Context) ([]servermodel.Pool, error) { return nil, nil }

func (noResources) Instances(context.Context) ([]servermodel.Instance, error) { return nil, nil }
