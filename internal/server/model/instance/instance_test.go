package instance_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

var (
	statuses = []model.InstanceStatus{
		model.InstancePendingCreate, model.InstanceCreating, model.InstanceRunning, model.InstanceStopped, model.InstanceError, model.InstanceUnknown,
		model.InstancePendingDelete, model.InstancePendingForceDelete, model.InstanceDeleting, model.InstanceDeleted, "foo", "",
	}
	runners = []model.RunnerStatus{
		model.RunnerPending, model.RunnerInstalling, model.RunnerIdle, model.RunnerActive, model.RunnerFailed, model.RunnerTerminated, model.RunnerOffline,
	}
	actors = []instance.Actor{instance.Engine, instance.Provider, instance.User, instance.Forge, instance.Runner}
)

func TestSV37ProviderMovesNothingBackwards(t *testing.T) {
	for _, from := range statuses {
		for _, to := range statuses {
			legal := instance.CheckStatus(instance.Provider, from, to) == nil
			answer := to == model.InstanceRunning || to == model.InstanceStopped || to == model.InstanceError || to == model.InstanceUnknown
			if want := from == to || from == model.InstanceCreating && answer; legal != want {
				t.Errorf("provider %s -> %s: legal %v, want %v", from, to, legal, want)
			}
		}
	}
}

func TestWhatUsersMayDelete(t *testing.T) {
	want := map[model.InstanceStatus]bool{
		model.InstanceRunning: true, model.InstanceStopped: true, model.InstanceError: true, model.InstanceUnknown: true,
		model.InstancePendingDelete: true, model.InstancePendingForceDelete: true,
	}
	for _, s := range statuses {
		if got := instance.Deletable(s); got != want[s] {
			t.Errorf("%q deletable: %v, want %v", s, got, want[s])
		}
	}
}

// Whoever does what: an instance that is on its way out never comes back, and one that is gone is gone.
func TestNothingComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := model.Instance{Status: model.InstancePendingCreate, RunnerStatus: model.RunnerPending}
		leaving, terminated, active := false, false, false
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			by := rapid.SampledFrom(actors).Draw(t, "by")
			before := i
			if err := instance.SetStatus(&i, by, rapid.SampledFrom(statuses).Draw(t, "status")); err != nil {
				if model.KindOf(err) != model.KindInvalid || before.Status != i.Status {
					t.Fatalf("refused by %v but changed %s -> %s", err, before.Status, i.Status)
				}
			}
			if err := instance.SetRunner(&i, by, rapid.SampledFrom(runners).Draw(t, "runner")); err != nil && before.RunnerStatus != i.RunnerStatus {
				t.Fatalf("refused by %v but changed", err)
			}
			if leaving && !instance.Leaving(i.Status) {
				t.Fatalf("came back: %s -> %s", before.Status, i.Status)
			}
			if terminated && i.RunnerStatus != model.RunnerTerminated {
				t.Fatalf("a runner that was done is %s", i.RunnerStatus)
			}
			if active && i.RunnerStatus != model.RunnerActive && i.RunnerStatus != model.RunnerTerminated {
				t.Fatalf("a runner with a job is %s", i.RunnerStatus)
			}
			if before.Status == model.InstanceDeleted && i.Status != model.InstanceDeleted {
				t.Fatalf("deleted -> %s", i.Status)
			}
			leaving = instance.Leaving(i.Status)
			terminated = i.RunnerStatus == model.RunnerTerminated
			active = i.RunnerStatus == model.RunnerActive
		}
	})
}
