package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// failsOnce is a create that makes the machine, does something more, and fails the first time.
func failsOnce(w *world, then func(b fleet.Bootstrap)) {
	failed := false
	w.provider.OnCreate = func(_ context.Context, b fleet.Bootstrap, made func()) (fleet.Machine, error) {
		made()
		if failed {
			return fleet.Machine{ProviderID: "id-" + b.Name, Name: b.Name, Status: model.InstanceRunning}, nil
		}
		failed = true
		then(b)
		return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderFailed, Fault: "the answer got lost"}
	}
}

// The machine of a create that failed may work all the same. Where its hooks are lost, only the forge knows.
func TestSV19CleanUpKeepsABusyRunner(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		failsOnce(w, func(b fleet.Bootstrap) {
			w.forge.Change(b.Name, func(r *fleet.Runner) { r.Online, r.Busy = true, true })
		})
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
		w.start()
		w.pass(time.Minute)
		row := w.rows()[0]
		if row.RunnerStatus != model.RunnerActive || len(w.provider.Deletes()) != 0 {
			t.Errorf("%d deletes, row %+v", len(w.provider.Deletes()), row)
		}
	})
}

// A registration is good for one runner: the next try gets a new one.
func TestNextTryRegistersAnew(t *testing.T) {
	for name, lose := range map[string]func(w *world, runner string){
		"the runner was there for the first try": func(*world, string) {},
		"the runner has done a job":              func(w *world, runner string) { w.forge.Drop(runner) },
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, w *world) {
				failsOnce(w, func(b fleet.Bootstrap) { lose(w, b.Name) })
				w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
				w.start()
				w.pass(time.Minute)
				runners, err := w.forge.Runners(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				row := w.rows()[0]
				if row.CreateAttempt != 2 || row.Status != model.InstanceRunning || !row.JIT || len(runners) != 1 || runners[0].ID != row.AgentID {
					t.Errorf("runners %+v, row %+v", runners, row)
				}
				if got := w.forge.Calls("JITConfig"); got != 2 {
					t.Errorf("%d registrations", got)
				}
			})
		})
	}
}

// What a runner has said of itself while its machine was being made does not keep a failed row where it is.
func TestFailedRowGoesOnWhateverItsRunnerSaid(t *testing.T) {
	for said, want := range map[model.RunnerStatus]model.InstanceStatus{
		model.RunnerInstalling: model.InstanceRunning,
		model.RunnerOffline:    model.InstanceRunning,
		model.RunnerFailed:     model.InstanceRunning,
		model.RunnerTerminated: "",
	} {
		t.Run(string(said), func(t *testing.T) {
			simulate(t, func(t *testing.T, w *world) {
				var first string
				failsOnce(w, func(b fleet.Bootstrap) {
					first = b.Name
					w.change(w.row(b.Name), func(i *model.Instance) { i.RunnerStatus = said })
				})
				w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
				w.start()
				w.pass(time.Minute)
				row, err := w.store.InstanceByName(t.Context(), first)
				if want == "" && model.IsNotFound(err) {
					return
				}
				if row.Status != want || row.RunnerStatus != model.RunnerPending {
					t.Errorf("%v, row %+v", err, row)
				}
			})
		})
	}
}
