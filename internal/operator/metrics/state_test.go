package metrics_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/metrics"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// session is a server that is down.
type session struct{ state remote.State }

func (s session) State() remote.State { return s.state }
func (session) View() *remote.View    { return nil }

var (
	leads = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()
	at    = metav1.NewTime(time.Unix(1_700_000_000, 0))
)

func conditions(status metav1.ConditionStatus, reason string) []metav1.Condition {
	return []metav1.Condition{{Type: v1beta1.ConditionReady, Status: status, Reason: reason, LastTransitionTime: at}}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }

// registry shows objects as an operator that leads, or not, would.
func registry(t *testing.T, leads <-chan struct{}, objects ...client.Object) *prometheus.Registry {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(metrics.NewState(metrics.Source{
		Reader:  fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Session: session{remote.State{Phase: remote.PhaseDown, Identity: remote.Identity{Server: "http://garm"}}},
		Leads:   leads, Context: t.Context(),
	}))
	return r
}

func TestResources(t *testing.T) {
	deleted := meta("leaving")
	deleted.DeletionTimestamp, deleted.Finalizers = &at, []string{v1beta1.FinalizerPool}
	paused := meta("paused")
	paused.Annotations = map[string]string{v1beta1.AnnotationPaused: ""}
	r := registry(
		t, leads,
		&v1beta1.Pool{ObjectMeta: meta("good"), Spec: v1beta1.PoolSpec{MinIdleRunners: 2, MaxRunners: 5, Enabled: true}, Status: v1beta1.PoolStatus{LongRunningIdleRunners: 1, Conditions: conditions("True", "ReconcileSuccess")}},
		&v1beta1.Pool{ObjectMeta: deleted, Status: v1beta1.PoolStatus{Conditions: conditions("False", "WaitingForRunners")}},
		&v1beta1.Organization{ObjectMeta: paused},
		&v1beta1.Runner{ObjectMeta: meta("one"), Status: v1beta1.RunnerStatus{Conditions: conditions("False", "GarmUnavailable")}},
		&v1beta1.Image{ObjectMeta: meta("image")},
	)
	want := `
# HELP garm_operator_oldest_deletion_timestamp_seconds When the longest of these deletions was asked for, in Unix seconds.
# TYPE garm_operator_oldest_deletion_timestamp_seconds gauge
garm_operator_oldest_deletion_timestamp_seconds{controller="garm_operator",kind="Pool"} 1.7e+09
# HELP garm_operator_pool_runners_enabled 1 where a Pool makes new runners, else 0.
# TYPE garm_operator_pool_runners_enabled gauge
garm_operator_pool_runners_enabled{controller="garm_operator",name="good",namespace="ns"} 1
garm_operator_pool_runners_enabled{controller="garm_operator",name="leaving",namespace="ns"} 0
# HELP garm_operator_pool_runners_long_running_idle How many runners of a Pool have been idle for longer than --operator-min-idle-runners-age.
# TYPE garm_operator_pool_runners_long_running_idle gauge
garm_operator_pool_runners_long_running_idle{controller="garm_operator",name="good",namespace="ns"} 1
garm_operator_pool_runners_long_running_idle{controller="garm_operator",name="leaving",namespace="ns"} 0
# HELP garm_operator_pool_runners_max How many runners a Pool may have.
# TYPE garm_operator_pool_runners_max gauge
garm_operator_pool_runners_max{controller="garm_operator",name="good",namespace="ns"} 5
garm_operator_pool_runners_max{controller="garm_operator",name="leaving",namespace="ns"} 0
# HELP garm_operator_pool_runners_min_idle How many idle runners a Pool keeps ready.
# TYPE garm_operator_pool_runners_min_idle gauge
garm_operator_pool_runners_min_idle{controller="garm_operator",name="good",namespace="ns"} 2
garm_operator_pool_runners_min_idle{controller="garm_operator",name="leaving",namespace="ns"} 0
# HELP garm_operator_resource_not_ready_since_timestamp_seconds Since when a resource that a user has written is not Ready, in Unix seconds.
# TYPE garm_operator_resource_not_ready_since_timestamp_seconds gauge
garm_operator_resource_not_ready_since_timestamp_seconds{controller="garm_operator",kind="Pool",name="leaving",namespace="ns",reason="WaitingForRunners"} 1.7e+09
# HELP garm_operator_server_events_connected 1 while the GARM server's event stream is open; while it is 0 the operator polls.
# TYPE garm_operator_server_events_connected gauge
garm_operator_server_events_connected{controller="garm_operator",server="http://garm"} 0
# HELP garm_operator_server_up 1 while the GARM server can be worked with, else 0.
# TYPE garm_operator_server_up gauge
garm_operator_server_up{controller="garm_operator",server="http://garm"} 0
`
	if err := testutil.GatherAndCompare(
		r, strings.NewReader(want), "garm_operator_oldest_deletion_timestamp_seconds", "garm_operator_pool_runners_enabled",
		"garm_operator_pool_runners_long_running_idle", "garm_operator_pool_runners_max", "garm_operator_pool_runners_min_idle", "garm_operator_pool_runners",
		"garm_operator_resource_not_ready_since_timestamp_seconds", "garm_operator_server_events_connected", "garm_operator_server_up", "garm_operator_server_info",
	); err != nil {
		t.Error(err)
	}
	got := map[string]float64{}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if v := m.GetGauge().GetValue(); f.GetName() == "garm_operator_resources" && v > 0 {
				got[labels["kind"]+" "+labels["ready"]] = v
			}
		}
	}
	counts := map[string]float64{"Pool true": 1, "Pool false": 1, "Organization unknown": 1, "Runner false": 1, "Image true": 1}
	if diff := cmp.Diff(counts, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

// Series are bounded by what users write: two thousand Runners are as many as none.
func TestCardinality(t *testing.T) {
	few := registry(t, leads)
	var runners []client.Object
	for range 2000 {
		runners = append(runners, &v1beta1.Runner{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r" + time.Duration(len(runners)).String()}})
	}
	many := registry(t, leads, runners...)
	a, errA := testutil.GatherAndCount(few)
	b, errB := testutil.GatherAndCount(many)
	if errA != nil || errB != nil || a != b {
		t.Errorf("%d series without Runners, %d with 2000; %v %v", a, b, errA, errB)
	}
}

// A replica that waits for its turn knows nothing, and one that has ended neither.
func TestOnlyTheLeaderShows(t *testing.T) {
	if n, err := testutil.GatherAndCount(registry(t, make(chan struct{}), &v1beta1.Pool{ObjectMeta: meta("p")})); n > 0 || err != nil {
		t.Errorf("a replica without the lease shows %d series, %v", n, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(metrics.NewState(metrics.Source{Session: session{}, Leads: leads, Context: ended}))
	if n, err := testutil.GatherAndCount(r); n > 0 || err != nil {
		t.Errorf("an operator that has ended shows %d series, %v", n, err)
	}
}

func TestEvents(t *testing.T) {
	e := metrics.NewEvents()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(e)
	e.Listed("s", remote.KindPool, 1, time.Second, context.DeadlineExceeded)
	e.EventReceived("s", remote.KindPool, garm.OperationUpdate, remote.EventInvalid)
	if n, err := testutil.GatherAndCount(r); n > 0 || err != nil {
		t.Fatalf("what failed counts: %d series, %v", n, err)
	}
	before := float64(time.Now().Unix())
	e.Listed("s", remote.KindPool, 1, time.Second, nil)
	e.EventReceived("s", remote.KindInstance, garm.OperationUpdate, remote.EventStale)
	e.Drifted("Pool", []string{"image", "flavor"})
	e.Drifted("Pool", []string{"image"})
	e.Failed("Pool", "GarmAPIError")
	got := map[string]float64{}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			value := m.GetCounter().GetValue()
			if at := m.GetGauge().GetValue(); at >= before && at <= float64(time.Now().Unix()+1) {
				value = 1
			}
			got[f.GetName()+" "+strings.Join(labels, " ")] = value
		}
	}
	want := map[string]float64{
		"garm_operator_drift_total garm_operator flavor Pool":                  1,
		"garm_operator_drift_total garm_operator image Pool":                   2,
		"garm_operator_reconcile_errors_total garm_operator Pool GarmAPIError": 1,
		"garm_operator_last_sync_timestamp_seconds garm_operator Pool s":       1,
		"garm_operator_last_sync_timestamp_seconds garm_operator Instance s":   1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
