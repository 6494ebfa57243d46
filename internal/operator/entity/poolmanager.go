package entity

import (
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// startGrace is how long the pool manager of a new entity may stay as it was when the entity was made.
const startGrace = 30 * time.Second

func (a *actuator[O, R]) poolManager(r *R) error {
	manager := a.Entity(r).PoolManagerStatus
	if manager.Running {
		a.pass.Conditions.True(v1beta1.ConditionPoolManager, v1beta1.ReasonPoolManagerRunning, "")
		return nil
	}
	reason := manager.FailureReason
	if reason == "" {
		reason = "the pool manager has not started yet"
	}
	a.pass.Conditions.False(v1beta1.ConditionPoolManager, v1beta1.ReasonPoolManagerFailure, reason)
	if rest := startRest(a.pass.Object, a.made, reason, time.Now()); rest > 0 {
		return mirror.Wait(v1beta1.ReasonReconciling, "the pool manager is starting: "+reason, rest)
	}
	return mirror.Degrade(v1beta1.ReasonPoolManagerFailure, "the pool manager is not running: "+reason, 0)
}

// startRest returns how much longer a pool manager that does not run counts as one that starts: since the entity was made,
// perhaps just now, it has never run, nor given another reason. So a failure shows at once, and no start is told as one.
func startRest(obj v1beta1.Conditioned, made bool, reason string, now time.Time) time.Duration {
	if made {
		return startGrace
	}
	ready, manager := status.Find(obj, v1beta1.ConditionReady), status.Find(obj, v1beta1.ConditionPoolManager)
	if ready == nil || ready.Reason != v1beta1.ReasonReconciling || manager == nil ||
		manager.Reason != v1beta1.ReasonPoolManagerFailure || manager.Message != reason {
		return 0
	}
	return min(startGrace, manager.LastTransitionTime.Add(startGrace).Sub(now))
}
