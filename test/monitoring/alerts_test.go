package monitoring_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// patience is for how long a quiet world is looked at.
const patience = 4 * time.Hour

// Every alert fires for the fault that it is about, as soon as it has lasted and not before, with a text that names what it
// is about; and it does not fire for anything else.
func TestAlertsFire(t *testing.T) {
	rules := alertRules(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(rules)), slices.Sorted(maps.Keys(alertCases))); diff != "" {
		t.Errorf("every alert has a case (-alerts +cases):\n%s", diff)
	}
	for name, c := range alertCases {
		rule, ok := rules[name]
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := alert{At: c.at, Labels: map[string]string{"severity": rule.Labels["severity"]}, Summary: c.summary}
			maps.Copy(want.Labels, c.labels)
			fired := alerts(t, rule, c.at, scraped(t, c.at, c.fault...))
			for i := range fired {
				maps.DeleteFunc(fired[i].Labels, ofTheTarget)
			}
			if diff := cmp.Diff([]alert{want}, fired); diff != "" {
				t.Errorf("fired (-want +got):\n%s", diff)
			}
			for world, lines := range c.quiet {
				if fired := alerts(t, rule, patience, scraped(t, patience, lines...)); len(fired) > 0 {
					t.Errorf("%s: %+v fires", world, fired)
				}
			}
		})
	}
}

// ofTheTarget says whether a label is one of the target, or the same on all metrics.
func ofTheTarget(name, value string) bool {
	return target[name] == value || name == "controller"
}

// well is a fleet that nothing is wrong with, with a runner that starts and one that has failed just now.
var well = []string{
	serverUp("1"), `garm_operator_server_events_connected{server="https://garm"} 1`,
	`garm_operator_client_jwt_expiration_timestamp_seconds 1000000`,
	`garm_operator_last_sync_timestamp_seconds{server="https://garm",kind="Pool"} 0+60x300`,
	`garm_operator_drift_total{kind="Pool",field="image"} 3`,
	`garm_operator_reconcile_errors_total{kind="Pool",reason="GarmAPIError"} 0x20 1x20 2`,
	`garm_operator_resource_not_ready_since_timestamp_seconds{kind="Pool",namespace="ci",name="new",reason="Reconciling"} _x19 1200x5 stale`,
	`garm_operator_oldest_deletion_timestamp_seconds{kind="Pool"} _x19 1200x20 stale`,
	enabled, minIdle, maximum,
	runners("pending", "0x19 1x3 0"), runners("idle", "2"), runners("active", "1"), runners("failed", "0x19 1x3 0"),
	`garm_webhook_received{valid="true",reason=""} 0+5x300`, `garm_webhook_received{valid="false",reason="signature_invalid"} 0`,
	providerCalls("garm_runner_operations_total", "0+2x300"), forgeCalls("garm_github_operations_total", "ListRunners", "0+1x300"),
}

// No alert fires while all is well, nor can a rule not be evaluated while the series of a leader that has ended stay beside
// those of the next one.
func TestNoAlertWhileAllIsWell(t *testing.T) {
	series := scraped(t, patience, well...)
	for name, rule := range alertRules(t) {
		if fired := alerts(t, rule, patience, series); len(fired) > 0 {
			t.Errorf("%s: %+v", name, fired)
		}
		if fired := alerts(t, rule, patience, slices.Concat(series, ofReplica(series, "garm-operator-5f7d9c-b8w2q"))); len(fired) > 0 {
			t.Errorf("%s, with two leaders: %+v", name, fired)
		}
	}
}

// ofReplica are the same series from another Pod.
func ofReplica(all []storage.Series, pod string) []storage.Series {
	var others []storage.Series
	for _, s := range all {
		others = append(others, &storage.SeriesEntry{
			Lset: labels.NewBuilder(s.Labels()).Set("pod", pod).Set("instance", pod).Labels(), SampleIteratorFn: s.Iterator,
		})
	}
	return others
}

var alertRow = regexp.MustCompile("(?m)^\\| `(Garm[A-Za-z]+)` \\| (critical|warning) \\|")

// docs/metrics.md says of every alert what to do, and of no other.
func TestAlertsAreDocumented(t *testing.T) {
	severities := map[string]string{}
	for name, rule := range alertRules(t) {
		severities[name] = rule.Labels["severity"]
	}
	documented := map[string]string{}
	for _, row := range alertRow.FindAllStringSubmatch(string(read(t, "docs/metrics.md")), -1) {
		documented[row[1]] = row[2]
	}
	if diff := cmp.Diff(severities, documented); diff != "" {
		t.Errorf("docs/metrics.md (-alerts +documented):\n%s", diff)
	}
}
