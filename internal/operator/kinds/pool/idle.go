package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

const (
	// jobGrace is how long a runner that has just become idle is left for the job that it may have been made for.
	jobGrace = 15 * time.Second
	// managerGrace is how long a pool manager has to be down before its Pools say so: a restart is not worth a write on each.
	managerGrace = time.Minute
	eventScaling = "Scaling"
)

// surplus is what is to be done about idle runners.
type surplus struct {
	// remove are the runners to delete, old counts the long-idle ones that then remain.
	remove []garm.Instance
	old    int
	// next is when the answer changes by time alone; 0 for never.
	next time.Duration
}

// idleFor is for how long an idle runner has been so; 0 where that is not known.
func idleFor(i garm.Instance, now time.Time) time.Duration {
	if i.UpdatedAt.IsZero() {
		return 0
	}
	return now.Sub(i.UpdatedAt)
}

// graceOf is how long a runner has to be idle before it can be removed, whatever for, where surplus ones are kept for age.
func graceOf(age time.Duration) time.Duration { return min(jobGrace, age) }

// surplusOf decides which idle runners go: with minIdle 0 all of them, else the long-idle ones above it. Only those whose
// machine runs or has failed can be deleted.
func surplusOf(instances []garm.Instance, minIdle int, age time.Duration, now time.Time) surplus {
	var idle, old []garm.Instance
	var next time.Duration
	soonest := func(d time.Duration) {
		if d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	for _, i := range instances {
		if i.RunnerStatus != garm.RunnerIdle {
			continue
		}
		since, grace := idleFor(i, now), graceOf(age)
		if since >= age {
			old = append(old, i)
		} else {
			soonest(age - since)
		}
		if since >= grace {
			idle = append(idle, i)
		} else if minIdle == 0 {
			soonest(grace - since)
		}
	}
	s := surplus{old: len(old), next: next}
	candidates := old[:min(max(len(old)-minIdle, 0), len(old))]
	if minIdle == 0 {
		candidates = idle
	}
	for _, i := range candidates {
		if i.Status != garm.InstanceRunning && i.Status != garm.InstanceError {
			continue
		}
		s.remove = append(s.remove, i)
		if !i.UpdatedAt.IsZero() && now.Sub(i.UpdatedAt) >= age {
			s.old--
		}
	}
	return s
}

// Attend removes surplus idle runners, replaces outdated ones, and passes on that the pool manager is down.
func (a *actuator) Attend(ctx context.Context, r *garm.Pool) error {
	instances, synced := a.pass.View.InstancesOfPool(r.ID)
	if !synced {
		return nil
	}
	s := surplusOf(instances, int(a.want.Min), a.minIdleAge, time.Now())
	a.old = s.old
	for _, i := range s.remove {
		err := a.remove(ctx, i, false, "more are idle than are to be kept")
		if refused(err) {
			// It has taken a job meanwhile, or the pool manager is down: no fault of the Pool's.
			if s.next == 0 || s.next > askAgain {
				s.next = askAgain
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	again, err := a.rotate(ctx, r, instances)
	if err != nil {
		return err
	}
	if again > 0 && (s.next == 0 || again < s.next) {
		s.next = again
	}
	return a.managerHint(s.next)
}

// remove asks for the removal of a runner, once in a while, and tells why.
func (a *actuator) remove(ctx context.Context, i garm.Instance, force bool, why string) error {
	if !a.asked.first(i.ID, force, time.Now()) {
		return nil
	}
	err := a.pass.View.Writer().DeleteInstance(ctx, i.Name, force)
	var refusal *garm.Error
	switch {
	case garm.IsNotFound(err):
		return nil
	case refused(err) && errors.As(err, &refusal):
		a.asked.keep(i.ID, refusal.Error())
		return err
	case err != nil:
		return err
	}
	a.pass.Event(corev1.EventTypeNormal, eventScaling, "removing runner %s: %s", i.Name, why)
	if force {
		a.pass.Event(corev1.EventTypeWarning, mirror.EventForced, "%s", mirror.ForcedRemoval(i.Name, i.ProviderID))
	}
	return nil
}

func (a *actuator) managerHint(next time.Duration) error {
	down := a.scope.manager
	if !a.managerDown() {
		return mirror.Later(next)
	}
	if rest := managerGrace - time.Since(down.LastTransitionTime.Time); rest > 0 {
		if next == 0 || rest < next {
			next = rest
		}
		return mirror.Later(next)
	}
	return mirror.Degrade(v1beta1.ReasonPoolManagerFailure, fmt.Sprintf(
		"the pool manager of %s %q is not running; see its conditions", a.scope.kind, a.scope.name), next)
}

func (a *actuator) managerDown() bool {
	return a.scope.manager != nil && a.scope.manager.Status == "False"
}
