package inventory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/inventory"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
	"github.com/garm-operator/garm-operator/internal/operator/status/statustest"
)

func running(name, pool string, state garm.RunnerStatus) garm.Instance {
	return garm.Instance{
		Name: name, PoolID: pool, Status: garm.InstanceRunning, RunnerStatus: state, ProviderID: "vm-" + name, AgentID: 7,
		OSType: "linux", OSArch: "amd64", RunnerGroup: "default", Addresses: []garm.Address{{Address: "10.0.0.1", Type: "private"}},
	}
}

// OP-37, OP-39, OP-40: runners are shown in the namespaces of their Pools and found by Pool.
func TestRunnersAreShown(t *testing.T) {
	w := newWorld(t)
	a, b := w.namespace(), w.namespace()
	w.server.SetInstance(running("garm-Early", a+"/small", garm.RunnerIdle))
	w.pool(a, "small")
	o := w.run()
	w.synced(o)
	w.pool(b, "large")
	instance := w.server.SetInstance(running("garm-AbC", b+"/large", garm.RunnerIdle))
	w.server.SetInstance(running("my_prefix-1", b+"/large", garm.RunnerActive))
	w.server.SetInstance(running("nobody-1", "a-pool-without-a-resource", garm.RunnerIdle))

	w.shown(a, "garm-early", "idle")
	w.shown(b, inventory.ObjectName("my_prefix-1"), "active")
	obj := w.shown(b, "garm-abc", "idle")
	want := v1beta1.RunnerStatus{
		ID: instance.ID, Name: "garm-AbC", ProviderID: "vm-garm-AbC", AgentID: 7, OSType: "linux", OSArch: "amd64", Status: "idle",
		InstanceStatus: "running", PoolID: "large", GitHubRunnerGroup: "default", ControllerID: w.server.ControllerID(),
		Addresses: []v1beta1.RunnerAddress{{Address: "10.0.0.1", Type: "private"}}, ObservedGeneration: 1,
	}
	if diff := cmp.Diff(want, obj.Status, cmpopts.IgnoreFields(v1beta1.RunnerStatus{}, "Conditions")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if obj.Labels[v1beta1.LabelPool] != "large" {
		t.Errorf("labels are %v", obj.Labels)
	}
	for _, err := range statustest.Laws(obj) {
		t.Error(err)
	}
	if c := status.Find(obj, v1beta1.ConditionReady); c == nil || c.Status != metav1.ConditionTrue || c.Reason != v1beta1.ReasonReconcileSuccess {
		t.Errorf("what is shown is not Ready: %+v", c)
	}
	for field, count := range map[string]int{"status.poolId=large": 2, "status.poolId=small": 1, "status.status=active": 1, "status.instanceStatus=running": 3} {
		t.Run("OP-39 "+field, func(t *testing.T) {
			list := &v1beta1.RunnerList{}
			selector := &client.ListOptions{Raw: &metav1.ListOptions{FieldSelector: field}}
			if err := w.kube.List(t.Context(), list, selector); err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != count {
				t.Errorf("%d runners, want %d", len(list.Items), count)
			}
		})
	}

	w.relist(o)
	w.server.SetInstance(running("garm-AbC", b+"/large", garm.RunnerActive))
	obj = w.shown(b, "garm-abc", "active")
	if len(obj.Status.Addresses) != 1 {
		t.Error("a list, which shows no addresses, has taken them away")
	}
}

// Real servers show addresses in a GET of one instance only: it is made once, when the machine runs.
func TestAddressesAreReadOnce(t *testing.T) {
	w := newWorld(t)
	ns := w.namespace()
	w.pool(ns, "p")
	w.server.SetEventFault(func(e garm.Event) []garm.Event { return nil })
	w.server.SetInstance(garm.Instance{Name: "garm-1", PoolID: ns + "/p", Status: garm.InstanceCreating, RunnerStatus: garm.RunnerPending})
	o := w.run()
	w.shown(ns, "garm-1", "pending")
	w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerIdle))
	w.relist(o)
	w.eventually(func() error {
		obj := w.get(ns, "garm-1")
		if obj == nil || len(obj.Status.Addresses) != 1 {
			return fmt.Errorf("no address is shown: %+v", obj)
		}
		return nil
	})
	for _, state := range []garm.RunnerStatus{garm.RunnerActive, garm.RunnerIdle} {
		w.server.SetInstance(running("garm-1", ns+"/p", state))
		w.relist(o)
		w.shown(ns, "garm-1", string(state))
	}
	if n := w.server.Counts()["GetInstance"]; n != 1 {
		t.Errorf("%d GETs, want 1", n)
	}
}

func TestInstancesThatAreGone(t *testing.T) {
	w := newWorld(t)
	ns := w.namespace()
	w.pool(ns, "p")
	for i := range 10 {
		w.server.SetInstance(running(fmt.Sprintf("garm-%d", i), ns+"/p", garm.RunnerIdle))
	}
	o := w.run()
	for i := range 10 {
		w.shown(ns, fmt.Sprintf("garm-%d", i), "idle")
	}
	w.synced(o)
	w.server.RemoveInstance("garm-0")
	w.gone(ns, "garm-0")
	if n := w.server.Counts()["GetInstance"]; n != 0 {
		t.Errorf("the server's word of a deletion was doubted: %d GETs", n)
	}

	w.server.SetEventFault(func(garm.Event) []garm.Event { return nil })
	w.server.RemoveInstance("garm-1")
	w.server.RemoveInstance("garm-2")
	w.relist(o)
	w.gone(ns, "garm-1")
	w.gone(ns, "garm-2")
	if n := w.server.Counts()["GetInstance"]; n != 2 {
		t.Errorf("OP-41: two of ten runners are missing from a list: %d GETs, want 2", n)
	}
	w.shown(ns, "garm-3", "idle")

	w.server.Reset()
	o.session.Poke()
	for i := 3; i < 10; i++ {
		w.gone(ns, fmt.Sprintf("garm-%d", i))
	}
	if n := w.server.Counts()["DeleteInstance"]; n != 0 {
		t.Errorf("%d instances were removed at the server", n)
	}
}

// A Pool that goes, moves to another GARM pool or comes late takes its Runner objects along; the instances stay.
func TestPoolsThatChange(t *testing.T) {
	w := newWorld(t)
	ns := w.namespace()
	pool := w.pool(ns, "p")
	w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerIdle))
	w.server.SetInstance(running("garm-2", "other", garm.RunnerIdle))
	w.run()
	w.shown(ns, "garm-1", "idle")
	w.claim(pool, "other")
	w.gone(ns, "garm-1")
	w.shown(ns, "garm-2", "idle")
	if err := w.kube.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.gone(ns, "garm-2")
	if n := w.server.Counts()["DeleteInstance"]; n != 0 {
		t.Errorf("%d instances were removed at the server", n)
	}
}

// left makes a Runner object as the known operator leaves it.
func (w *world) left(namespace, name string) {
	w.Helper()
	ctx := context.Background()
	obj := &v1beta1.Runner{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: []string{v1beta1.FinalizerRunner}}}
	if err := w.kube.Create(ctx, obj); err != nil {
		w.Fatal(err)
	}
	obj.Status = v1beta1.RunnerStatus{ID: "1", Name: name, PoolID: "p", Status: "pending"}
	if err := w.kube.Status().Update(ctx, obj); err != nil {
		w.Fatal(err)
	}
}

func TestObjectsOfTheKnownOperator(t *testing.T) {
	t.Run("mirror on: they are taken over", func(t *testing.T) {
		w := newWorld(t)
		ns := w.namespace()
		w.pool(ns, "p")
		w.left(ns, "garm-1")
		w.left(ns, "garm-gone")
		before := w.get(ns, "garm-1")
		w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerIdle))
		w.run()
		if obj := w.shown(ns, "garm-1", "idle"); obj.UID != before.UID || obj.Labels[v1beta1.LabelPool] != "p" {
			t.Errorf("the object was not taken over as it is: %+v", obj)
		}
		w.gone(ns, "garm-gone")
	})
	t.Run("OP-38 mirror off: they are cleaned up, and nothing at GARM", func(t *testing.T) {
		w := newWorld(t)
		ns := w.namespace()
		w.pool(ns, "p")
		w.left(ns, "garm-1")
		w.left(ns, "garm-2")
		w.delete(ns, "garm-2")
		w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerIdle))
		w.server.SetInstance(running("garm-2", ns+"/p", garm.RunnerIdle))
		w.run(func(_ *ctrlOptions, o *inventory.Options, _ *remote.Options) { o.Mirror = false })
		w.gone(ns, "garm-1")
		w.gone(ns, "garm-2")
		if c := w.server.Counts(); c["DeleteInstance"]+c["GetInstance"] != 0 {
			t.Errorf("calls: %v", c)
		}
	})
}

// A crash between the create of an object and its status leaves one without; it is filled in, not made anew.
func TestObjectsWithoutStatus(t *testing.T) {
	w := newWorld(t)
	ns := w.namespace()
	w.pool(ns, "p")
	uids := map[string]types.UID{}
	for _, instance := range []string{"garm-Plain", "my_prefix-1"} {
		w.server.SetInstance(running(instance, ns+"/p", garm.RunnerIdle))
		name := inventory.ObjectName(instance)
		obj := &v1beta1.Runner{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Finalizers: []string{v1beta1.FinalizerRunner}}}
		if err := w.kube.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		uids[name] = obj.UID
	}
	w.run()
	for name, uid := range uids {
		if obj := w.shown(ns, name, "idle"); obj.UID != uid {
			t.Errorf("%s was made anew", name)
		}
	}
}
