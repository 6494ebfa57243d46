package pool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// drainRetry is how often draining is looked at when no event of a runner wakes it.
const drainRetry = 15 * time.Second

// remaining counts the runners of a pool by what they wait for.
type remaining struct {
	busy, starting, leaving, kept int
	// removable are those to ask the server about; unless they are kept they count as being removed.
	removable []garm.Instance
	// why is what the server said of a runner that it keeps; forced says that it was asked to remove it by force.
	why    string
	forced bool
}

// sortRunners says what becomes of each runner of a pool that is to go: a busy one is never touched, a machine that is
// being made is waited for, the rest can be removed. A runner that has taken a job meanwhile is safe: GitHub refuses to
// remove it, and with that GARM does. By force, busy ones can be removed, too, and so can those whose removal has begun
// without force.
func sortRunners(instances []garm.Instance, force bool) remaining {
	var r remaining
	for _, i := range instances {
		switch i.Status {
		case garm.InstancePendingDelete:
			if force {
				r.removable = append(r.removable, i)
			} else {
				r.leaving++
			}
			continue
		case garm.InstancePendingForceDelete, garm.InstanceDeleting, garm.InstanceDeleted:
			r.leaving++
			continue
		case garm.InstancePendingCreate, garm.InstanceCreating:
			r.starting++
			continue
		}
		if i.RunnerStatus == garm.RunnerActive && !force {
			r.busy++
			continue
		}
		r.removable = append(r.removable, i)
	}
	return r
}

func (r remaining) String() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.busy, "busy with a job")
	add(r.starting, "starting")
	add(r.leaving+len(r.removable)-r.kept, "being removed")
	kept := "kept by the GARM server, which says: " + r.why
	if !r.forced {
		kept += " (annotation " + v1beta1.AnnotationForceDelete + " removes by force)"
	}
	add(r.kept, kept)
	return strings.Join(parts, ", ")
}

// refused says whether the server does not remove a runner in the state that it is in.
func refused(err error) bool {
	kind := garm.KindOf(err)
	return err != nil && (kind == garm.KindConflict || kind == garm.KindInvalid)
}

// Drain stops the pool from making runners, removes those that do nothing, and waits for the rest.
func (a *actuator) Drain(ctx context.Context, r *garm.Pool) error {
	view := a.pass.View
	if r.Enabled || r.MinIdleRunners > 0 {
		enabled, none := false, uint(0)
		updated, err := view.Writer().UpdatePool(ctx, r.ID, garm.UpdatePoolParams{Enabled: &enabled, MinIdleRunners: &none})
		if garm.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		*r = updated
	}
	instances, synced := view.InstancesOfPool(r.ID)
	if !synced {
		return mirror.Again(time.Second)
	}
	force, err := a.forced(ctx)
	if err != nil {
		return err
	}
	left := sortRunners(instances, force)
	left.forced = force
	for _, i := range left.removable {
		err := a.remove(ctx, i, force, "the Pool is being deleted")
		if err != nil && !refused(err) {
			return err
		}
		if why := a.asked.refusal(i.ID); why != "" {
			left.kept, left.why = left.kept+1, why
		}
	}
	if len(instances) == 0 {
		return nil
	}
	return mirror.Wait(v1beta1.ReasonWaitingForRunners, fmt.Sprintf("waiting for %d runners: %s", len(instances), left), drainRetry)
}

// forced says whether the Pool, or the entity that it serves, has the annotation that lets its deletion use force.
func (a *actuator) forced(ctx context.Context) (bool, error) {
	p := a.pass
	if mirror.Forced(p.Object) {
		return true, nil
	}
	ref := p.Object.Spec.GitHubScopeRef
	obj, _ := newScope(ref.Kind)
	if obj == nil {
		return false, nil
	}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.Object.Namespace, Name: ref.Name}, obj)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return mirror.Forced(obj), nil
}
