package inventory_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
	"github.com/garm-operator/garm-operator/internal/operator/status/statustest"
)

// removal is a world with one shown runner.
func removal(t *testing.T, state garm.RunnerStatus) (w *world, o *operator, ns string) {
	w = newWorld(t)
	ns = w.namespace()
	w.pool(ns, "p")
	w.server.SetInstance(running("garm-1", ns+"/p", state))
	o = w.run()
	w.shown(ns, "garm-1", string(state))
	w.synced(o)
	return w, o, ns
}

func (w *world) instance() garm.Instance {
	w.Helper()
	i, err := w.server.GetInstance(w.Context(), "garm-1")
	if err != nil {
		w.Fatal(err)
	}
	return i
}

func (w *world) deletes(want int) {
	w.Helper()
	if n := w.server.Counts()["DeleteInstance"]; n != want {
		w.Errorf("%d instances were asked to be removed, want %d", n, want)
	}
}

// OP-25: the runner is removed, and its object stays until it is gone, so that it does not come back.
func TestDeletedRunnerIsRemoved(t *testing.T) {
	w, _, ns := removal(t, garm.RunnerIdle)
	uid := w.get(ns, "garm-1").UID
	w.delete(ns, "garm-1")
	obj := w.waits(ns, "garm-1", v1beta1.ReasonDeleting)
	for _, err := range statustest.Laws(obj) {
		t.Error(err)
	}
	if s := w.instance().Status; s != garm.InstancePendingDelete {
		t.Errorf("SV-19: removal is never forced: the instance is %s", s)
	}
	w.server.SetInstance(garm.Instance{Name: "garm-1", PoolID: ns + "/p", Status: garm.InstanceDeleting, RunnerStatus: garm.RunnerTerminated})
	if obj := w.shown(ns, "garm-1", "terminated"); obj.UID != uid {
		t.Error("the object came back as another one")
	}
	w.server.RemoveInstance("garm-1")
	w.gone(ns, "garm-1")
	w.deletes(1)
}

// What goes along with a Pool that leaves everything at GARM, as with its namespace, is no wish to remove runners.
func TestRunnersOfAReleasedPoolStay(t *testing.T) {
	w := newWorld(t)
	ns := w.namespace()
	pool := w.pool(ns, "p")
	pool.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan
	pool.Finalizers = []string{"example.com/hold"}
	if err := w.kube.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerIdle))
	o := w.run()
	w.shown(ns, "garm-1", string(garm.RunnerIdle))
	w.synced(o)
	if err := w.kube.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.gone(ns, "garm-1")
	w.deletes(0)
	w.instance()

	// Another Pool takes over what it has left, though finalizers of others still hold it.
	w.claim(w.pool(ns, "heir"), ns+"/p")
	if obj := w.shown(ns, "garm-1", string(garm.RunnerIdle)); obj.Status.PoolID != "heir" {
		t.Errorf("the runner is shown as one of the Pool %q", obj.Status.PoolID)
	}
	if err := w.kube.Patch(t.Context(), pool, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
}

// SV-19, the operator's part: a runner that runs a job is left alone until the job is over.
func TestBusyRunnerIsNotRemoved(t *testing.T) {
	w, _, ns := removal(t, garm.RunnerActive)
	w.delete(ns, "garm-1")
	obj := w.waits(ns, "garm-1", v1beta1.ReasonWaitingForRunners)
	if !strings.Contains(obj.Status.Conditions[0].Message, "job") {
		t.Errorf("the message is %q", obj.Status.Conditions[0].Message)
	}
	w.deletes(0)
	w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerIdle))
	w.waits(ns, "garm-1", v1beta1.ReasonDeleting)
	w.deletes(1)
}

// OP-26: with the annotation a runner is removed by force, though it is busy, and however late the annotation comes.
func TestOP26ForcedRunnerIsRemoved(t *testing.T) {
	w, _, ns := removal(t, garm.RunnerActive)
	w.delete(ns, "garm-1")
	obj := w.waits(ns, "garm-1", v1beta1.ReasonWaitingForRunners)
	force := func(value string) {
		base := obj.DeepCopy()
		obj.Annotations = map[string]string{v1beta1.AnnotationForceDelete: value}
		if err := w.kube.Patch(t.Context(), obj, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
	}
	force("False")
	w.server.SetInstance(running("garm-2", ns+"/p", garm.RunnerIdle))
	w.shown(ns, "garm-2", "idle")
	w.deletes(0)
	obj = w.get(ns, "garm-1")
	force("true")
	w.waits(ns, "garm-1", v1beta1.ReasonDeleting)
	if s := w.instance().Status; s != garm.InstancePendingForceDelete {
		t.Errorf("the instance is %s", s)
	}
	w.deletes(1)
	w.eventually(func() error { // which machine a server may leave behind
		var events corev1.EventList
		if err := w.kube.List(t.Context(), &events, client.InNamespace(ns)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.InvolvedObject.UID == obj.UID && e.Reason == mirror.EventForced && strings.Contains(e.Message, "vm-garm-1") {
				return nil
			}
		}
		return fmt.Errorf("no event names the machine among %d", len(events.Items))
	})
}

// SV-19: that the event of a job was lost does not matter.
func TestBusyRunnerIsNotRemovedWhenItsEventIsLost(t *testing.T) {
	w, _, ns := removal(t, garm.RunnerIdle)
	w.server.SetEventFault(func(garm.Event) []garm.Event { return nil })
	w.server.SetInstance(running("garm-1", ns+"/p", garm.RunnerActive))
	w.delete(ns, "garm-1")
	w.waits(ns, "garm-1", v1beta1.ReasonWaitingForRunners)
	w.deletes(0)
}

func TestRefusedRemovalWaits(t *testing.T) {
	for status, reason := range map[int]string{
		400: v1beta1.ReasonWaitingForRunners, 409: v1beta1.ReasonWaitingForRunners, 422: v1beta1.ReasonWaitingForRunners,
		500: v1beta1.ReasonDeletionFailed,
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			w, _, ns := removal(t, garm.RunnerIdle)
			var refuse atomic.Bool
			refuse.Store(true)
			w.server.SetFault(func(op string) error {
				if op != "DeleteInstance" || !refuse.Load() {
					return nil
				}
				err := remotetest.Error(op, status)
				var e *garm.Error
				if status == 422 && errors.As(err, &e) {
					e.Kind = garm.KindInvalid
				}
				return err
			})
			w.delete(ns, "garm-1")
			w.waits(ns, "garm-1", reason)
			if n := w.server.Counts()["DeleteInstance"]; n > 2 {
				t.Errorf("SV-19 %d: asked %d times at once", status, n)
			}
			refuse.Store(false)
			stopped := running("garm-1", ns+"/p", garm.RunnerIdle)
			stopped.Status = garm.InstanceStopped
			w.server.SetInstance(stopped)
			w.waits(ns, "garm-1", v1beta1.ReasonDeleting)
			w.server.RemoveInstance("garm-1")
			w.gone(ns, "garm-1")
		})
	}
}

func TestRemovalWaitsForGARM(t *testing.T) {
	w, o, ns := removal(t, garm.RunnerIdle)
	var down atomic.Bool
	down.Store(true)
	w.server.SetFault(func(op string) error {
		if down.Load() {
			return remotetest.Error(op, 0)
		}
		return nil
	})
	w.server.DropStreams()
	o.session.Poke()
	w.eventually(func() error {
		if o.session.State().Ready() {
			o.session.Poke()
			return errors.New("the session has not noticed that the server is down")
		}
		return nil
	})
	w.delete(ns, "garm-1")
	w.waits(ns, "garm-1", v1beta1.ReasonGarmUnavailable)
	w.deletes(0)
	down.Store(false)
	o.session.Poke()
	w.waits(ns, "garm-1", v1beta1.ReasonDeleting)
	w.server.RemoveInstance("garm-1")
	w.gone(ns, "garm-1")
}

// An object that a user makes by hand, in a namespace that the runner is not of, removes nothing.
func TestForeignObjectRemovesNothing(t *testing.T) {
	w, o, ns := removal(t, garm.RunnerIdle)
	o.stop()
	other := w.namespace()
	for _, name := range []string{"garm-1", "garm-deleted"} {
		w.server.SetInstance(running(name, ns+"/p", garm.RunnerIdle))
		w.left(other, name)
	}
	w.delete(other, "garm-deleted")
	w.run()
	w.gone(other, "garm-deleted")
	w.gone(other, "garm-1")
	w.shown(ns, "garm-1", "idle")
	w.deletes(0)
}
