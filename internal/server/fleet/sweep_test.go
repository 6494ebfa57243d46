package fleet_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

func TestSV24InstallingRunnersHaveUntilTheBootstrapTimeout(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.provider.NoJIT = true // so that the forge does not list them before they register
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.BootstrapTimeout = 1, 30*time.Minute })
		w.start()
		row := w.rows()[0]
		for range 5 {
			w.pass(5 * time.Minute)
			// Each report moves the time of the last change, which does not count.
			w.change(row, func(i *model.Instance) { i.RunnerStatus = model.RunnerInstalling })
		}
		if got := w.row(row.Name); got.Status != model.InstanceRunning {
			t.Fatalf("after 25 of 30 minutes: %+v", got)
		}
		w.pass(25 * time.Minute)
		for _, left := range w.rows() {
			if left.ID == row.ID {
				t.Errorf("after 50 of 30 minutes: %+v", left)
			}
		}
	})
}

func TestSV25ForeignRunnersAreLeftAlone(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.forge.Add(fleet.Runner{Name: "by-hand"})
		w.forge.Add(fleet.Runner{Name: "others", Labels: []string{"runner-controller-id:11111111-0d3a-4f29-9d51-9a5d7f4b8a01"}})
		w.forge.Add(fleet.Runner{Name: "ours-colon", Labels: []string{"runner-controller-id:" + controllerID}})
		w.forge.Add(fleet.Runner{Name: "ours-equals", Labels: []string{"Runner-Controller-ID=" + controllerID}})
		w.forge.Add(fleet.Runner{Name: "ours-online", Online: true, Labels: []string{"runner-controller-id=" + controllerID}})
		w.start()
		if got := w.forge.Removed(); len(got) != 0 {
			t.Errorf("removed at the first look: %v", got)
		}
		w.pass(30 * time.Minute)
		removed := w.forge.Removed()
		slices.Sort(removed)
		if !slices.Equal(removed, []string{"ours-colon", "ours-equals"}) {
			t.Errorf("removed %v", removed)
		}
	})
}

// Nine of ten runners are lost; the removal of one fails each time.
func TestSV27OneFailureDoesNotEndTheSweep(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 10, 10 })
		w.start()
		w.idle()
		w.pool(func(p *model.Pool) { p.MaxRunners, p.Enabled = 10, false })
		for _, row := range w.rows() {
			w.change(row, func(i *model.Instance) { i.RunnerStatus = model.RunnerFailed })
			w.forge.Change(row.Name, func(r *fleet.Runner) { r.Online = false })
		}
		failed := false
		w.forge.Do(func() {
			w.forge.Fail = func(op string) error {
				if op == "Runner" && !failed {
					failed = true
					return forgetest.Error(fleet.ForgeUnavailable)
				}
				if op == "Runners" {
					failed = false
				}
				return nil
			}
		})
		w.pass(40 * time.Minute) // the bootstrap timeout and two sweeps, with jitter
		if got := len(w.rows()); got > 1 {
			t.Errorf("%d rows are left", got)
		}
	})
}

// A machine whose provider takes its time holds up the removal of nobody else, and is not removed itself.
func TestSV62SlowProviderDoesNotEndTheSweep(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		slow := ""
		w.provider.OnCreate = func(ctx context.Context, b fleet.Bootstrap, made func()) (fleet.Machine, error) {
			if slow == "" {
				slow = b.Name
				<-ctx.Done()
				return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderTimeout, Fault: "too slow"}
			}
			made()
			return fleet.Machine{ProviderID: "id-" + b.Name, Name: b.Name, Status: model.InstanceRunning}, nil
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners, p.BootstrapTimeout = 1, 3, 5*time.Hour })
		w.start()
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners, p.BootstrapTimeout = 3, 3, 5*time.Hour })
		w.pass(time.Second)
		w.idle()
		var lost []model.InstanceID
		for _, row := range w.rows() {
			if row.Name != slow {
				lost = append(lost, row.ID)
				w.forge.Drop(row.Name)
			}
		}
		if len(lost) != 2 || w.row(slow).Status != model.InstanceCreating {
			t.Fatalf("rows %+v", w.rows())
		}
		w.pass(40 * time.Minute)
		for _, row := range w.rows() {
			if slices.Contains(lost, row.ID) {
				t.Errorf("a row whose runner is lost is left: %+v", row)
			}
		}
		if got := w.row(slow); got.Status != model.InstanceCreating || len(w.provider.Deletes()) != 2 {
			t.Errorf("row %+v, removed %v", got, w.provider.Deletes())
		}
	})
}

func TestSV61OneMissingListKillsNobody(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 2 })
		w.start()
		w.idle()
		rows := w.rows()
		w.forge.Do(func() { w.forge.Hidden = map[string]bool{rows[0].Name: true} })
		w.pass(2 * time.Hour)
		if got := w.row(rows[0].Name); got.Status != model.InstanceRunning || got.RunnerStatus != model.RunnerIdle {
			t.Fatalf("a runner that lists leave out but that exists: %+v", got)
		}
		began := w.forge.Calls("Runners")
		w.forge.Drop(rows[1].Name)
		for w.forge.Calls("Runners") < began+1 {
			w.pass(time.Minute)
		}
		if got := w.row(rows[1].Name); got.Status != model.InstanceRunning {
			t.Errorf("removed after one list: %+v", got)
		}
		w.pass(15 * time.Minute)
		for _, row := range w.rows() {
			if row.ID == rows[1].ID {
				t.Errorf("a runner that is gone at the forge has a row: %+v", row)
			}
		}
	})
}
