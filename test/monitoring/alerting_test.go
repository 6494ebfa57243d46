package monitoring_test

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// interval is the time between two scrapes, and between two evaluations of a rule.
const interval = time.Minute

// engine is that of Prometheus. Its package of rules is not used, since that one brings the clients of three clouds with it,
// some three hundred more packages to compile; of it nothing but the waiting is needed, which alerts does.
var engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, Parser: promqlParser})

// target are the labels that a target of the Prometheus Operator gives to what has not got them by itself.
var target = map[string]string{
	"job": "garm-operator-metrics", "instance": "10.0.0.7:8080", "namespace": "garm-operator-system", "pod": "garm-operator-5f7d9c-x2x4k",
	"container": "manager", "endpoint": "metrics", "service": "garm-operator-metrics",
}

// alert is one that fires.
type alert struct {
	// At is when it fired first, since the first scrape.
	At      time.Duration
	Labels  map[string]string
	Summary string
}

func alertRules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse(read(t, rulesFile), false, model.LegacyValidation, promqlParser, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := map[string]rulefmt.Rule{}
	for _, rule := range groups.Groups[0].Rules {
		found[rule.Alert] = rule
	}
	return found
}

// scraped makes series from lines in the notation of promtool, such as `garm_operator_server_up{server="s"} 1x9 0`: each
// value is one scrape, and the last is scraped for as long as anybody looks, unless the target is `stale`. The lines have the
// labels of the program; those that it gives to all and those of the target are added. A label too many or too few fails
// the test.
func scraped(t *testing.T, until time.Duration, lines ...string) []storage.Series {
	t.Helper()
	var all []storage.Series
	exported := exported(t)
	for _, line := range lines {
		metric, values, err := promqlParser.ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, series(t, labelled(t, exported, line, metric), values, until))
	}
	return all
}

// labelled are the labels of a series as Prometheus stores them.
func labelled(t *testing.T, exported map[string]metricLabels, line string, written labels.Labels) labels.Labels {
	t.Helper()
	name := written.Get(model.MetricNameLabel)
	known, ok := exported[name]
	if !ok {
		t.Fatalf("nobody shows %s", name)
	}
	for _, l := range known.variable {
		// A label that is empty is none to Prometheus.
		if !written.Has(l) && !strings.Contains(line, l+`=""`) {
			t.Fatalf("%s: %s has the label %s too", line, name, l)
		}
	}
	written.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel && !slices.Contains(known.variable, l.Name) {
			t.Fatalf("%s: %s has no label %s", line, name, l.Name)
		}
	})
	b := labels.NewBuilder(labels.FromMap(target))
	for l, v := range known.constant {
		b.Set(l, v)
	}
	written.Range(func(l labels.Label) { b.Set(l.Name, l.Value) })
	return b.Labels()
}

// alerts looks at a rule at each scrape, and returns what fired.
func alerts(t *testing.T, rule rulefmt.Rule, until time.Duration, all []storage.Series) []alert {
	t.Helper()
	var fired []alert
	since := map[uint64]time.Time{}
	for at := time.Duration(0); at <= until; at += interval {
		now := time.Unix(0, 0).Add(at)
		query, err := engine.NewInstantQuery(t.Context(), database(all), nil, rule.Expr, now)
		if err != nil {
			t.Fatal(err)
		}
		result := query.Exec(t.Context())
		vector, err := result.Vector()
		if err != nil {
			t.Fatalf("after %s: %v", at, err)
		}
		seen := map[uint64]time.Time{}
		for _, s := range vector {
			id := labels.NewBuilder(s.Metric).Del(model.MetricNameLabel).Labels().Hash()
			if _, twice := seen[id]; twice {
				t.Fatalf("after %s two alerts have the labels %s", at, s.Metric)
			}
			seen[id] = now
			if begun, ok := since[id]; ok {
				seen[id] = begun
			}
			if now.Sub(seen[id]) == time.Duration(rule.For) {
				fired = append(fired, rendered(t, rule, at, s))
			}
		}
		since = seen
		query.Close()
	}
	return fired
}

// rendered is the alert as its receiver reads it, made by the templates of Prometheus. A label that is not there is an error.
func rendered(t *testing.T, rule rulefmt.Rule, at time.Duration, s promql.Sample) alert {
	t.Helper()
	has := s.Metric.Map()
	data := template.AlertTemplateData(has, nil, "", s)
	expand := func(text string) string {
		const variables = "{{$labels := .Labels}}{{$value := .Value}}"
		expanded, err := template.NewTemplateExpander(
			t.Context(), variables+text, rule.Alert, data, model.Time(at.Milliseconds()), nil, &url.URL{}, []string{"missingkey=error"},
		).Expand()
		if err != nil || expanded == "" || strings.Contains(expanded, "<no value>") || strings.Contains(expanded, "{{") {
			t.Errorf("%q becomes %q, %v", text, expanded, err)
		}
		return expanded
	}
	for name, value := range rule.Labels {
		has[name] = expand(value)
	}
	delete(has, model.MetricNameLabel)
	expand(rule.Annotations["description"])
	return alert{At: at, Labels: has, Summary: expand(rule.Annotations["summary"])}
}

// series has one value a scrape, and the last one until the end.
func series(t *testing.T, has labels.Labels, values []parser.SequenceValue, until time.Duration) storage.Series {
	t.Helper()
	chunk := chunkenc.NewXORChunk()
	samples, err := chunk.Appender()
	if err != nil {
		t.Fatal(err)
	}
	for at := time.Duration(0); at <= until; at += interval {
		if v := values[min(int(at/interval), len(values)-1)]; !v.Omitted {
			samples.Append(0, at.Milliseconds(), v.Value)
		}
	}
	return &storage.SeriesEntry{Lset: has, SampleIteratorFn: chunk.Iterator}
}

// database holds series as Prometheus does.
type database []storage.Series

func (d database) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		selected := &selection{}
		for _, s := range d {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) }) {
				selected.rest = append(selected.rest, s)
			}
		}
		return selected
	}}, nil
}

// selection is what is left of a result.
type selection struct {
	at   storage.Series
	rest []storage.Series
}

func (s *selection) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.at, s.rest = s.rest[0], s.rest[1:]
	return true
}

func (s *selection) At() storage.Series              { return s.at }
func (*selection) Err() error                        { return nil }
func (*selection) Warnings() annotations.Annotations { return nil }
