package metrics

import (
	"testing"

	"github.com/garm-operator/garm-operator/garm"
)

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		machine garm.InstanceStatus
		runner  garm.RunnerStatus
		want    string
	}{
		{garm.InstancePendingCreate, garm.RunnerPending, StatePending},
		{garm.InstanceRunning, garm.RunnerInstalling, StatePending},
		{garm.InstanceCreating, "", StatePending},
		{garm.InstanceRunning, garm.RunnerIdle, StateIdle},
		{garm.InstanceRunning, garm.RunnerActive, StateActive},
		{garm.InstanceRunning, garm.RunnerFailed, StateFailed},
		{garm.InstanceError, garm.RunnerPending, StateFailed},
		{garm.InstanceRunning, garm.RunnerTerminated, StateRemoving},
		{garm.InstancePendingDelete, garm.RunnerIdle, StateRemoving},
		{garm.InstancePendingForceDelete, garm.RunnerActive, StateRemoving},
		{garm.InstanceDeleting, garm.RunnerTerminated, StateRemoving},
		{garm.InstanceRunning, garm.RunnerOffline, StateUnknown},
		{garm.InstanceRunning, "of a later release", StateUnknown},
	} {
		if got := stateOf(garm.Instance{Status: c.machine, RunnerStatus: c.runner}); got != c.want {
			t.Errorf("machine %q with runner %q is %s, not %s", c.machine, c.runner, got, c.want)
		}
	}
}
