package pool

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// drainRetry is how often draining is looked at when no event of a runner wakes it.
const drainRetry = 15 * time.Second

// remaining counts the runners of a pool by what they wait for.
type remaining struct {
	busy, starting, leaving int
	removable               []garm.Instance
}

// sortRunners says what becomes of each runner of a pool that is to go: a busy one is never touched, a machine that is
// being made is waited for, the rest can be removed. A runner that has taken a job meanwhile is safe: GitHub refuses to
// remove it, and with that GARM does.
func sortRunners(instances []garm.Instance) remaining {
	var r remaining
	for _, i := range instances {
		switch i.Status {
		case garm.InstancePendingDelete, garm.InstancePendingForceDelete, garm.InstanceDeleting, garm.InstanceDeleted:
			r.leaving++
			continue
		case garm.InstancePendingCreate, garm.InstanceCreating:
			r.starting++
			continue
		}
		if i.RunnerStatus == garm.RunnerActive {
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
	add(r.leaving+len(r.removable), "being removed")
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
	left := sortRunners(instances)
	for _, i := range left.removable {
		if err := a.remove(ctx, i); err != nil && !refused(err) {
			return err
		}
	}
	if len(instances) == 0 {
		return nil
	}
	return mirror.Wait(v1beta1.ReasonWaitingForRunners, fmt.Sprintf("waiting for %d runners: %s", len(instances), left), drainRetry)
}

// asked remembers which runners were asked to go, so that no event on the way asks again.
type asked struct {
	mu sync.Mutex
	at map[string]time.Time
}

// askAgain is when a removal that has not happened is asked for again.
const askAgain = time.Minute

// first says whether a runner was not asked within the last minute, and notes that it is now.
func (a *asked) first(id string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.at[id]; ok && now.Sub(at) < askAgain {
		return false
	}
	if a.at == nil {
		a.at = map[string]time.Time{}
	}
	for other, at := range a.at {
		if now.Sub(at) >= askAgain {
			delete(a.at, other)
		}
	}
	a.at[id] = now
	return true
}
