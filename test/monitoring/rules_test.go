package monitoring_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	sigsyaml "sigs.k8s.io/yaml"
)

const (
	rulesFile      = "config/prometheus/rules/garm-operator.yaml"
	prometheusRule = "config/prometheus/prometheusrule.yaml"
	dashboardFile  = "config/grafana/garm-operator.json"
)

var promqlParser = parser.NewParser(parser.Options{})

// The alert rules load in Prometheus, and each says what is wrong and what to do.
func TestAlertRulesLoad(t *testing.T) {
	groups, errs := rulefmt.Parse(read(t, rulesFile), false, model.LegacyValidation, promqlParser, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) < 8 {
		t.Fatalf("the rules are %+v", groups)
	}
	for _, rule := range groups.Groups[0].Rules {
		if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s has no summary or description", rule.Alert)
		}
		if s := rule.Labels["severity"]; s != "warning" && s != "critical" {
			t.Errorf("%s has the severity %q", rule.Alert, s)
		}
	}
}

// The PrometheusRule is the rule file in the form of the Prometheus Operator.
func TestPrometheusRuleIsTheRuleFile(t *testing.T) {
	var plain, wrapped map[string]any
	if err := sigsyaml.Unmarshal(read(t, rulesFile), &plain); err != nil {
		t.Fatal(err)
	}
	if err := sigsyaml.Unmarshal(read(t, prometheusRule), &wrapped); err != nil {
		t.Fatal(err)
	}
	if wrapped["kind"] != "PrometheusRule" || wrapped["apiVersion"] != "monitoring.coreos.com/v1" {
		t.Errorf("%v is no PrometheusRule", wrapped["kind"])
	}
	if diff := cmp.Diff(any(plain), wrapped["spec"]); diff != "" {
		t.Errorf("(-rule file +PrometheusRule):\n%s", diff)
	}
}

type dashboard struct {
	UID        string  `json:"uid"`
	Title      string  `json:"title"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct{ X, Y, W, H int }
	Targets []struct {
		RefID string `json:"refId"`
		Expr  string `json:"expr"`
	} `json:"targets"`
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	variables   = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$pool", ".*")
)

// expressions are those of the dashboard, by panel, and of its variables.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal(read(t, dashboardFile), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || len(d.Panels) < 10 {
		t.Fatalf("the dashboard is %+v", d)
	}
	found := map[string]string{}
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q has an id that is taken, no title or no expression", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range d.Panels[:i] {
			a, b := p.GridPos, q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("panels %q and %q lie upon each other", p.Title, q.Title)
			}
		}
		for _, target := range p.Targets {
			found[fmt.Sprintf("panel %s %s", p.Title, target.RefID)] = variables.Replace(target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(v.Definition)
		if parts == nil {
			t.Errorf("variable %s is %q", v.Name, v.Definition)
			continue
		}
		found["variable "+v.Name] = fmt.Sprintf("count by (%s) (%s)", parts[2], variables.Replace(parts[1]))
	}
	return found
}

// ofTarget are the labels that Prometheus adds to each sample.
var ofTarget = []string{"job", "instance"}

// Every metric that the dashboard or an alert names is one that the operator or the server shows, with the labels that are
// asked for.
func TestNamedMetricsExist(t *testing.T) {
	shown := running(t).labels(t)
	named := expressions(t)
	for name, rule := range alertRules(t) {
		named["alert "+name] = rule.Expr
	}
	for where, text := range named {
		expr, err := promqlParser.ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		var all []string
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			have, ok := shown[selector.Name]
			if !ok {
				t.Errorf("%s: nobody shows %s", where, selector.Name)
			}
			all = append(all, have...)
			for _, m := range selector.LabelMatchers {
				if m.Name != model.MetricNameLabel && ok && !slices.Contains(have, m.Name) {
					t.Errorf("%s: %s has no label %s", where, selector.Name, m.Name)
				}
			}
			return nil
		})
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			var grouping []string
			switch n := node.(type) {
			case *parser.AggregateExpr:
				grouping = n.Grouping
			case *parser.BinaryExpr:
				if n.VectorMatching != nil {
					grouping = n.VectorMatching.MatchingLabels
				}
			}
			for _, l := range grouping {
				if !slices.Contains(all, l) && !slices.Contains(ofTarget, l) {
					t.Errorf("%s: nothing in it has the label %s", where, l)
				}
			}
			return nil
		})
	}
}

// labels returns the labels of every metric that the running operator shows, and of those that it and the server
// describe and show later.
func (w *world) labels(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, family := range w.scrape(t) {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				found[name] = append(found[name], l.GetName())
			}
		}
		if _, ok := found[name]; !ok {
			found[name] = nil
		}
	}
	for name, has := range exported(t) {
		found[name] = append(found[name], has.variable...)
	}
	return found
}

// What there is in the world shows in the metrics that the alerts are about.
func TestTheWorldAsMetrics(t *testing.T) {
	w := running(t)
	shown := w.scrape(t)
	for _, c := range []struct {
		name   string
		labels map[string]string
		value  float64
	}{
		{"garm_operator_server_up", nil, 1},
		{"garm_operator_resources", map[string]string{"kind": "Pool", "ready": "true"}, 1},
		{"garm_operator_resources", map[string]string{"kind": "Pool", "ready": "unknown"}, 1},
		{"garm_operator_resources", map[string]string{"kind": "Enterprise", "ready": "true"}, 1},
		{"garm_operator_resources", map[string]string{"kind": "Repository", "ready": "true"}, 1},
		{"garm_operator_pool_runners_min_idle", map[string]string{"namespace": namespace, "name": "builders"}, 1},
		{"garm_operator_pool_runners", map[string]string{"namespace": namespace, "name": "builders", "state": "active"}, 0},
		{"garm_operator_pool_runners", map[string]string{"namespace": namespace, "name": "builders", "state": "pending"}, 1},
	} {
		if value, err := sample(shown[c.name], c.labels); err != nil || value != c.value {
			t.Errorf("%s%v is %v, not %v; %v", c.name, c.labels, value, c.value, err)
		}
	}
}
