package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// Source is where the gauges come from.
type Source interface {
	Controller(ctx context.Context) (model.Controller, error)
	Entities(ctx context.Context) ([]model.Entity, error)
	Pools(ctx context.Context) ([]model.Pool, error)
	Instances(ctx context.Context) ([]model.Instance, error)
}

// Options say what is shown.
type Options struct {
	Source Source
	// Health is what the engine saw last of an entity.
	Health    func(model.EntityID) model.EntityHealth
	Providers []Provider
	// Counters are shown besides; nil for none.
	Counters *Counters
	Log      *slog.Logger
}

// Provider describes a configured provider.
type Provider struct{ Name, Description string }

// readTimeout bounds the reading of the gauges.
const readTimeout = 10 * time.Second

// Handler serves the metrics of a server. Gauges are read when they are asked for, so none is ever stale.
func Handler(o Options) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), gaugeReader{o})
	if o.Counters != nil {
		registry.MustRegister(o.Counters.all()...)
	}
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("garm_"+name, help, labels, nil)
}

var (
	health       = desc("health", "1 where the database answers.", "metadata_url", "callback_url", "webhook_url", "controller_webhook_url", "controller_id")
	providerInfo = desc("provider_info", "A configured provider.", "name", "type", "description")
	poolInfo     = desc("pool_info", "A pool.", "id", "image", "flavor", "prefix", "os_type", "os_arch", "tags", "provider", "pool_owner", "pool_type")
	poolStatus   = desc("pool_status", "1 where a pool is enabled.", "id", "enabled")
	poolMax      = desc("pool_max_runners", "How many runners a pool may have.", "id")
	poolMinIdle  = desc("pool_min_idle_runners", "How many idle runners a pool keeps.", "id")
	poolTimeout  = desc("pool_bootstrap_timeout", "How many minutes a runner of a pool may take to start.", "id")
	runnerStatus = desc("runner_status", "A runner instance.", "name", "status", "runner_status", "pool_owner", "pool_type", "pool_id", "scaleset_id", "provider")

	entityInfo   = perKind("info", "An entity.", "name", "id")
	entityStatus = perKind("pool_manager_status", "1 where the pools of an entity are worked on.", "name", "id", "running")
)

func perKind(name, help string, labels ...string) map[model.EntityKind]*prometheus.Desc {
	descs := map[model.EntityKind]*prometheus.Desc{}
	for _, kind := range []model.EntityKind{model.KindRepository, model.KindOrganization, model.KindEnterprise} {
		descs[kind] = desc(string(kind)+"_"+name, help, labels...)
	}
	return descs
}

// gaugeReader collects the gauges.
type gaugeReader struct{ Options }

// Describe implements prometheus.Collector.
func (f gaugeReader) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{health, providerInfo, poolInfo, poolStatus, poolMax, poolMinIdle, poolTimeout, runnerStatus} {
		ch <- d
	}
	for _, descs := range []map[model.EntityKind]*prometheus.Desc{entityInfo, entityStatus} {
		for _, d := range descs {
			ch <- d
		}
	}
}

// Collect implements prometheus.Collector.
func (f gaugeReader) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	if err := f.collect(ctx, gauges(ch)); err != nil {
		f.Log.Error("The metrics cannot be read", "error", err)
		ch <- prometheus.NewInvalidMetric(health, err)
	}
}

type gauges chan<- prometheus.Metric

func (g gauges) set(d *prometheus.Desc, value float64, labels ...string) {
	g <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (f gaugeReader) collect(ctx context.Context, g gauges) error {
	c, err := f.Source.Controller(ctx)
	if err != nil {
		return err
	}
	entities, err := f.Source.Entities(ctx)
	if err != nil {
		return err
	}
	pools, err := f.Source.Pools(ctx)
	if err != nil {
		return err
	}
	instances, err := f.Source.Instances(ctx)
	if err != nil {
		return err
	}
	metadata, callback, webhook := weburl.WithoutLogin(c.MetadataURL), weburl.WithoutLogin(c.CallbackURL), weburl.WithoutLogin(c.WebhookURL)
	g.set(health, 1, metadata, callback, webhook, strings.TrimSuffix(webhook, "/")+"/"+string(c.ID), string(c.ID))
	for _, p := range f.Providers {
		g.set(providerInfo, 1, p.Name, "external", p.Description)
	}
	for _, e := range entities {
		running := f.Health(e.ID).Running
		g.set(entityInfo[e.Kind], 1, e.FullName(), string(e.ID))
		g.set(entityStatus[e.Kind], number(running), e.FullName(), string(e.ID), strconv.FormatBool(running))
	}
	owners := map[model.PoolID]model.Pool{}
	for _, p := range pools {
		owners[p.ID] = p
		id := string(p.ID)
		g.set(poolInfo, 1, id, p.Image, p.Flavor, p.RunnerPrefix, string(p.OSType), string(p.OSArch), strings.Join(p.TagNames(), ","), p.ProviderName, p.EntityName, string(p.EntityKind))
		g.set(poolStatus, number(p.Enabled), id, strconv.FormatBool(p.Enabled))
		g.set(poolMax, float64(p.MaxRunners), id)
		g.set(poolMinIdle, float64(p.MinIdleRunners), id)
		g.set(poolTimeout, p.BootstrapTimeout.Minutes(), id)
	}
	for _, i := range instances {
		g.set(runnerStatus, 1, i.Name, string(i.Status), string(i.RunnerStatus), owners[i.PoolID].EntityName, string(i.EntityKind), string(i.PoolID), "", i.ProviderName)
	}
	return nil
}

func number(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
