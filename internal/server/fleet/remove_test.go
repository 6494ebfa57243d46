package fleet_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

func TestSV19BusyRunnerSurvivesEveryRemoval(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 2 })
		w.start()
		w.idle()
		// The hook that says so is late.
		busy := w.rows()[0]
		w.forge.Change(busy.Name, func(r *fleet.Runner) { r.Busy = true })
		for _, force := range []bool{false, true} {
			err := w.engine.DeleteInstance(t.Context(), busy.ID, force, true)
			if model.KindOf(err) != model.KindConflict || !strings.Contains(err.Error(), busy.Name) {
				t.Errorf("force=%v: %v", force, err)
			}
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 0 })
		w.pass(30 * time.Minute)
		rows := w.rows()
		if len(rows) != 1 || rows[0].ID != busy.ID || rows[0].Status != model.InstanceRunning {
			t.Fatalf("rows after scaling down: %+v", rows)
		}
		if rows[0].RunnerStatus != model.RunnerActive {
			t.Errorf("the sweep did not learn that the runner is busy: %s", rows[0].RunnerStatus)
		}
		if got := w.provider.Machines(); len(got) != 1 || got[0] != busy.Name {
			t.Errorf("machines %v", got)
		}
	})
}

func TestScaleDownWaitsForTheGrace(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 5 })
		w.start()
		w.idle()
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 2 })
		w.pass(time.Minute)
		if got := len(w.rows()); got != 5 {
			t.Errorf("%d rows before the grace was over, want 5", got)
		}
		w.pass(2 * time.Minute)
		if got := len(w.rows()); got != 2 || len(w.provider.Machines()) != 2 || len(w.forge.All()) != 2 {
			t.Errorf("%d rows, machines %v, %d runners, want 2 of each", got, w.provider.Machines(), len(w.forge.All()))
		}
	})
}

func TestDeleteInstance(t *testing.T) {
	tests := map[string]struct {
		fail                           error
		force, bypass                  bool
		status                         model.InstanceStatus
		kind                           model.ErrorKind
		wantsError, gone, leavesRunner bool
	}{
		"normal":                       {gone: true},
		"in error":                     {status: model.InstanceError, gone: true},
		"stopped":                      {status: model.InstanceStopped, gone: true},
		"unknown":                      {status: model.InstanceUnknown, gone: true},
		"forge refuses":                {fail: forgetest.Error(fleet.ForgeUnauthorized), wantsError: true, kind: model.KindConflict, leavesRunner: true},
		"forge refuses, bypassed":      {fail: forgetest.Error(fleet.ForgeUnauthorized), bypass: true, gone: true, leavesRunner: true},
		"forge is down, bypassed":      {fail: forgetest.Error(fleet.ForgeUnavailable), bypass: true, wantsError: true, kind: model.KindConflict, leavesRunner: true},
		"forge is down, forced":        {fail: forgetest.Error(fleet.ForgeUnavailable), force: true, gone: true, leavesRunner: true},
		"while it is created":          {status: model.InstanceCreating, wantsError: true, kind: model.KindInvalid, leavesRunner: true},
		"before it is created":         {status: model.InstancePendingCreate, wantsError: true, kind: model.KindInvalid, leavesRunner: true},
		"while it is deleted":          {status: model.InstanceDeleting, wantsError: true, kind: model.KindInvalid, leavesRunner: true},
		"a second time":                {status: model.InstancePendingDelete, leavesRunner: true},
		"a second time, now by force":  {status: model.InstancePendingDelete, force: true, leavesRunner: true},
		"a forced one a second time":   {status: model.InstancePendingForceDelete, leavesRunner: true},
		"a forced one, again by force": {status: model.InstancePendingForceDelete, force: true, leavesRunner: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, w *world) {
				w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
				w.start()
				w.idle()
				w.pool(nil)
				row := w.rows()[0]
				if test.status != "" {
					w.stop() // the engine does not touch the row meanwhile
					w.store.Changed = nil
					w.change(row, func(i *model.Instance) { i.Status = test.status })
				}
				w.forge.Do(func() { w.forge.Fail = func(string) error { return test.fail } })
				err := w.engine.DeleteInstance(t.Context(), row.ID, test.force, test.bypass)
				synctest.Wait()
				if (err != nil) != test.wantsError || err != nil && model.KindOf(err) != test.kind {
					t.Fatalf("error %v of kind %d", err, model.KindOf(err))
				}
				if got := len(w.rows()) == 0; test.status == "" && got != test.gone {
					t.Errorf("gone: %v, rows %+v", got, w.rows())
				}
				if test.status != "" && err == nil && !instance.Leaving(w.rows()[0].Status) {
					t.Errorf("row is in status %s after its removal was accepted", w.rows()[0].Status)
				}
				if err != nil && test.status == "" && w.rows()[0].Status != model.InstanceRunning {
					t.Errorf("a refused removal changed the row to %s", w.rows()[0].Status)
				}
				if test.force && test.status == model.InstancePendingDelete && w.rows()[0].Status != model.InstancePendingForceDelete {
					t.Errorf("force is forgotten: %s", w.rows()[0].Status)
				}
				if got := len(w.forge.All()) == 1; got != test.leavesRunner {
					t.Errorf("runner still at the forge: %v, want %v", got, test.leavesRunner)
				}
			})
		})
	}
}

func TestDeleteOfUnknownInstance(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.start()
		if err := w.engine.DeleteInstance(t.Context(), "nobody", false, false); !model.IsNotFound(err) {
			t.Errorf("error %v", err)
		}
	})
}

func TestFailedDeleteBacksOffAndForceEndsIt(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.provider.OnDelete = func(context.Context, string) error { return errors.New("the cloud is down") }
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
		w.start()
		w.idle()
		row := w.rows()[0]
		if err := w.engine.DeleteInstance(t.Context(), row.ID, false, false); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
		if got := len(w.provider.Deletes()); got < 8 || got > 16 {
			t.Errorf("%d tries in an hour", got)
		}
		row = w.row(row.Name)
		if row.Status != model.InstancePendingDelete || !strings.Contains(string(row.ProviderFault), "cloud is down") {
			t.Errorf("row %+v", row)
		}
		if err := w.engine.DeleteInstance(t.Context(), row.ID, true, false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, left := range w.rows() {
			if left.ID == row.ID {
				t.Errorf("the row is still there after it was forced: %+v", left)
			}
		}
		// Nobody asks for the machine again, so users are told which one it is.
		told := slices.DeleteFunc(w.store.Events(row.EntityID), func(text string) bool { return !strings.Contains(text, "by force") })
		if len(told) != 1 {
			t.Fatalf("told %q", w.store.Events(row.EntityID))
		}
		for _, part := range []string{row.Name, row.ProviderName, row.ProviderID, "cloud is down"} {
			if part == "" || !strings.Contains(told[0], part) {
				t.Errorf("%q does not name %q", told[0], part)
			}
		}
	})
}

func TestForcedDeleteOfAMachineThatGoesTellsNothing(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
		w.start()
		w.idle()
		row := w.rows()[0]
		before := len(w.store.Events(row.EntityID))
		if err := w.engine.DeleteInstance(t.Context(), row.ID, true, false); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		if told := w.store.Events(row.EntityID)[before:]; len(told) > 0 {
			t.Errorf("told %q", told)
		}
	})
}

// A provider that is slow, and 200 deletions at once: no row stays, and the minimum is back.
func TestSV56BurstOfDeletions(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 200, 200 })
		w.start()
		w.idle()
		first := map[model.InstanceID]bool{}
		w.provider.OnDelete = func(context.Context, string) error { time.Sleep(2 * time.Second); return nil }
		for _, row := range w.rows() {
			first[row.ID] = true
			w.forge.Drop(row.Name)
			if _, err := w.store.UpdateInstance(t.Context(), row.ID, func(i *model.Instance) error {
				i.RunnerStatus, i.Status = model.RunnerTerminated, model.InstancePendingDelete
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(time.Minute)
		rows := w.rows()
		if len(rows) != 200 || w.store.Most("pool") > 200 {
			t.Errorf("%d rows, at most %d at a time", len(rows), w.store.Most("pool"))
		}
		for _, row := range rows {
			if first[row.ID] || row.Status != model.InstanceRunning {
				t.Fatalf("row %+v", row)
			}
		}
	})
}

func TestSV63DeletedRunnerIsReplacedAtOnce(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.start()
		w.idle()
		w.provider.OnDelete = func(ctx context.Context, _ string) error { time.Sleep(time.Hour); return nil }
		if err := w.engine.DeleteInstance(t.Context(), w.rows()[0].ID, false, false); err != nil {
			t.Fatal(err)
		}
		w.pass(100 * time.Millisecond)
		if w.states()[model.InstanceRunning] != 1 {
			t.Errorf("states %v", w.states())
		}
		w.pass(2 * time.Hour)
	})
}
