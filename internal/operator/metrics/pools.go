package metrics

import (
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

var (
	poolEnabled  = desc("pool_runners_enabled", "1 where a Pool makes new runners, else 0.", "namespace", "name")
	poolMinIdle  = desc("pool_runners_min_idle", "How many idle runners a Pool keeps ready.", "namespace", "name")
	poolMax      = desc("pool_runners_max", "How many runners a Pool may have.", "namespace", "name")
	poolLongIdle = desc("pool_runners_long_running_idle", "How many runners of a Pool have been idle for longer than --operator-min-idle-runners-age.",
		"namespace", "name")
	poolRunners = desc("pool_runners", "How many runners a Pool has at the GARM server, by state: pending, idle, active, failed, removing or unknown.",
		"namespace", "name", "state")
)

// States of runners, as metrics tell them.
const (
	// StatePending runners are being made, or have not reported for work yet.
	StatePending = "pending"
	// StateIdle runners wait for a job, StateActive ones have one.
	StateIdle   = "idle"
	StateActive = "active"
	// StateFailed runners could not be made, or did not come up.
	StateFailed = "failed"
	// StateRemoving runners have done their job, or are being removed.
	StateRemoving = "removing"
	// StateUnknown is all else.
	StateUnknown = "unknown"
)

var states = []string{StatePending, StateIdle, StateActive, StateFailed, StateRemoving, StateUnknown}

// stateOf makes one state of those of the machine and of the runner on it.
func stateOf(i garm.Instance) string {
	switch i.Status {
	case garm.InstancePendingDelete, garm.InstancePendingForceDelete, garm.InstanceDeleting, garm.InstanceDeleted:
		return StateRemoving
	case garm.InstanceError:
		return StateFailed
	}
	switch i.RunnerStatus {
	case garm.RunnerPending, garm.RunnerInstalling, "":
		return StatePending
	case garm.RunnerIdle:
		return StateIdle
	case garm.RunnerActive:
		return StateActive
	case garm.RunnerFailed:
		return StateFailed
	case garm.RunnerTerminated:
		return StateRemoving
	}
	return StateUnknown
}

// pool shows one Pool. Its runners are those that the view knows, whether or not they are shown as resources; while
// nothing is known of them nothing is told.
func (s *State) pool(out sink, p *v1beta1.Pool) {
	out.set(poolEnabled, number(p.Spec.Enabled), p.Namespace, p.Name)
	out.set(poolMinIdle, float64(p.Spec.MinIdleRunners), p.Namespace, p.Name)
	out.set(poolMax, float64(p.Spec.MaxRunners), p.Namespace, p.Name)
	out.set(poolLongIdle, float64(p.Status.LongRunningIdleRunners), p.Namespace, p.Name)
	view := s.source.Session.View()
	if view == nil || p.Status.ID == "" || p.Status.ControllerID != view.Identity().ControllerID {
		return
	}
	instances, known := view.InstancesOfPool(p.Status.ID)
	if !known {
		return
	}
	count := map[string]int{}
	for _, i := range instances {
		count[stateOf(i)]++
	}
	for _, state := range states {
		out.set(poolRunners, float64(count[state]), p.Namespace, p.Name, state)
	}
}
