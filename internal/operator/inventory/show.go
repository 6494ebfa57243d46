package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// show keeps an object in step with its instance.
func (r *reconciler) show(ctx context.Context, p *pass, obj *v1beta1.Runner) error {
	marked := obj.DeepCopy()
	if mark(marked, p.pool.Name) {
		patch := client.MergeFromWithOptions(obj, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, marked, patch); err != nil {
			return fmt.Errorf("mark Runner: %w", err)
		}
		r.note(marked)
		obj = marked
	}
	if becomesRunning(obj, p.instance) {
		r.readAddresses(ctx, p)
	}
	var conditions status.Set
	conditions.Summarize(status.Summary{Ready: true, Reason: v1beta1.ReasonReconcileSuccess})
	return r.writeStatus(ctx, p, obj, &conditions)
}

// becomesRunning says whether this is the moment to ask for addresses, which neither lists nor the events of real servers
// show. It comes once in the life of a runner, and not for those that ran before they were shown: however many there are,
// a start costs no GET of each.
func becomesRunning(obj *v1beta1.Runner, i garm.Instance) bool {
	before := obj.Status.InstanceStatus
	return i.Status == garm.InstanceRunning && before != "" && before != string(garm.InstanceRunning) &&
		len(i.Addresses) == 0 && len(obj.Status.Addresses) == 0
}

// readAddresses reads the instance anew. That it fails is no reason not to show the rest.
func (r *reconciler) readAddresses(ctx context.Context, p *pass) {
	if !p.state.Ready() {
		return
	}
	fresh, err := p.view.FetchInstance(ctx, p.instance.Name)
	if err != nil {
		logr.FromContextOrDiscard(ctx).V(1).Info("addresses of a runner not read", "instance", p.instance.Name, "error", err.Error())
		return
	}
	if fresh.ID == p.instance.ID && fresh.PoolID == p.instance.PoolID {
		p.instance = fresh
	}
}

// tell says on an object that is being deleted what its removal waits for.
func (r *reconciler) tell(ctx context.Context, p *pass, obj *v1beta1.Runner, reason, message string) error {
	var conditions status.Set
	conditions.Summarize(status.Summary{Reconciling: true, Reason: reason, Message: message})
	return r.writeStatus(ctx, p, obj, &conditions)
}

// writeStatus writes what is known of the instance, and the conditions, where anything differs.
func (r *reconciler) writeStatus(ctx context.Context, p *pass, obj *v1beta1.Runner, conditions *status.Set) error {
	now := obj.DeepCopy()
	if p.present && p.pool != nil {
		project(&now.Status, p.instance, p.pool.Name, p.view.Identity().ControllerID)
	}
	conditions.Apply(now, metav1.NewTime(time.Now()))
	now.Status.ObservedGeneration = now.Generation
	wrote, err := status.Patch(ctx, r.client, obj, now)
	if err != nil {
		return err
	}
	if wrote {
		r.note(now)
	}
	return nil
}

// drop removes an object and leaves the instance alone. The finalizer goes first, so that it can not be taken for the
// wish of a user to have the runner removed.
func (r *reconciler) drop(ctx context.Context, obj *v1beta1.Runner) error {
	if err := r.free(ctx, obj); err != nil {
		return err
	}
	if err := r.client.Delete(ctx, obj, client.Preconditions{UID: &obj.UID}); err != nil {
		return fmt.Errorf("delete Runner: %w", err)
	}
	logr.FromContextOrDiscard(ctx).Info("runner no longer shown", "namespace", obj.Namespace, "runner", obj.Name)
	return nil
}

// free takes the finalizer away.
func (r *reconciler) free(ctx context.Context, obj *v1beta1.Runner) error {
	if controllerutil.ContainsFinalizer(obj, v1beta1.FinalizerRunner) {
		base := obj.DeepCopy()
		controllerutil.RemoveFinalizer(obj, v1beta1.FinalizerRunner)
		patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, obj, patch); err != nil {
			return fmt.Errorf("release Runner: %w", err)
		}
	}
	r.forget(obj)
	return nil
}

func unavailable(state remote.State) string {
	why := string(state.Phase)
	if state.Reason != "" {
		why = state.Reason
	}
	return fmt.Sprintf("the GARM server is not available (%s); the runner is removed when it is back", why)
}
