package operator

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	operatormetrics "github.com/garm-operator/garm-operator/internal/operator/metrics"
)

var (
	row         = regexp.MustCompile("(?m)^\\| `(garm_operator_[a-z_]+)` \\| (?:gauge|counter) \\|([^|]*)\\|")
	description = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", .*, constLabels: \{controller="garm_operator"\}, variableLabels: \{([^}]*)\}\}$`)
)

// docs/metrics.md lists what is registered, name and labels, and nothing else.
func TestMetricsAreDocumented(t *testing.T) {
	own := newCollectors()
	descs := make(chan *prometheus.Desc, 100)
	for _, c := range []prometheus.Collector{own.client, own.events, operatormetrics.NewState(operatormetrics.Source{})} {
		c.Describe(descs)
	}
	close(descs)
	registered := map[string][]string{}
	for d := range descs {
		found := description.FindStringSubmatch(d.String())
		if found == nil {
			t.Fatalf("%s has not the label of the operator", d)
		}
		registered[found[1]] = sorted(strings.Split(found[2], ","))
	}
	page, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, found := range row.FindAllStringSubmatch(string(page), -1) {
		documented[found[1]] = sorted(strings.Split(strings.ReplaceAll(found[2], "`", ""), ","))
	}
	if diff := cmp.Diff(registered, documented); diff != "" {
		t.Errorf("docs/metrics.md (-registered +documented):\n%s", diff)
	}
}

func sorted(labels []string) []string {
	for i := range labels {
		labels[i] = strings.TrimSpace(labels[i])
	}
	slices.Sort(labels)
	return labels
}
