package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

func TestMinIdleIsKept(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.start()
		if h := w.engine.Health("entity"); !h.Running {
			t.Fatalf("health: %+v", h)
		}
		began := time.Now()
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 3 })
		synctest.Wait()
		if got := len(w.provider.Machines()); got != 3 {
			t.Fatalf("%d machines, want 3\n%s", got, w.log.String())
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %s of waiting until the provider was called", took)
		}
		for _, row := range w.rows() {
			if row.Status != model.InstanceRunning || !row.JIT || row.AgentID == 0 || row.ProviderID != "id-"+row.Name {
				t.Errorf("row %+v", row)
			}
		}
		w.idle()
		busy := w.rows()[0]
		w.forge.Change(busy.Name, func(r *fleet.Runner) { r.Busy = true })
		w.change(busy, func(i *model.Instance) { i.RunnerStatus = model.RunnerActive })
		if got := len(w.provider.Machines()); got != 4 {
			t.Fatalf("%d machines after one took a job, want 4", got)
		}
		w.forge.Drop(busy.Name)
		w.change(busy, func(i *model.Instance) {
			i.RunnerStatus, i.Status = model.RunnerTerminated, model.InstancePendingDelete
		})
		if got := len(w.provider.Machines()); got != 3 {
			t.Errorf("%d machines after the job, want 3", got)
		}
		if got := len(w.rows()); got != 3 {
			t.Errorf("%d rows after the job, want 3", got)
		}
	})
}

func TestSteadyStateIsQuiet(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 5 })
		w.start()
		w.idle()
		w.log.Reset()
		calls := w.forge.AllCalls()
		w.pass(time.Hour)
		if got := w.log.String(); got != "" {
			t.Errorf("log at rest:\n%s", got)
		}
		if got := w.forge.AllCalls() - calls; got > 16 {
			t.Errorf("%d calls of the forge in an hour, want at most 16", got)
		}
		if got := len(w.provider.Creates()); got != 5 {
			t.Errorf("%d creates, want 5", got)
		}
	})
}

// A pool that is too small for its minimum, and one whose minimum is more than its maximum.
func TestMaxRunnersHolds(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 9, 4 })
		w.start()
		for id := range int64(20) {
			w.job(id+1, "linux")
		}
		w.pass(10 * time.Minute)
		if got := w.store.Most("pool"); got != 4 {
			t.Errorf("the pool had %d rows at a time, want 4", got)
		}
		if got := w.provider.Most(); got != 4 {
			t.Errorf("%d machines at a time, want 4", got)
		}
	})
}

// A large minimum is reached in steps, each of which keeps the database for a moment only.
func TestLargeMinimumIsReachedInSteps(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		pool := w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 250, 250 })
		w.start()
		w.pass(time.Second)
		if rows, most := len(w.rows()), w.store.MostAtOnce(pool.ID); rows != 250 || most != 100 {
			t.Errorf("%d rows, up to %d at a time", rows, most)
		}
	})
}

func TestSV29DisabledPoolsNeverCreate(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.Enabled = 2, false })
		w.start()
		w.job(1, "linux")
		w.pass(time.Hour)
		if got := len(w.provider.Creates()); got != 0 {
			t.Errorf("%d creates by a disabled pool", got)
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 2 })
		synctest.Wait()
		if got := len(w.provider.Machines()); got < 2 {
			t.Fatalf("%d machines after the pool was enabled, want 2", got)
		}
		before := len(w.provider.Machines())
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.Enabled = 8, false })
		w.pass(time.Hour)
		if got := len(w.provider.Machines()); got > before {
			t.Errorf("%d machines, more than the %d before the pool was disabled", got, before)
		}
	})
}

func TestSV57OneBrokenEntityStopsNobodyElse(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.forge.Fail = func(op string) error { return forgetest.Error(fleet.ForgeUnauthorized) }
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.start()
		w.pass(5 * time.Minute)
		h := w.engine.Health("entity")
		if h.Running || h.FailureReason == "" {
			t.Errorf("health with bad credentials: %+v", h)
		}
		if got := len(w.store.Events("entity")); got != 1 {
			t.Errorf("%d events for one change of health", got)
		}
		if got := len(w.provider.Creates()) + len(w.rows()); got != 0 {
			t.Errorf("%d rows and creates without a forge", got)
		}
		w.forge.Do(func() { w.forge.Fail = nil })
		w.store.Put(w.entity())
		w.store.Changed(model.Change{Operation: model.OpUpdate, Object: w.entity().Credentials})
		synctest.Wait()
		if got := len(w.provider.Machines()); got != 1 {
			t.Errorf("%d machines after the credentials were mended, want 1", got)
		}
		if got := len(w.store.Events("entity")); got != 2 {
			t.Errorf("%d events, want 2", got)
		}
	})
}

// While the credentials are limited, not one call is made; then work goes on by itself.
func TestSV52RateLimitStopsCalls(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.start()
		reset := time.Now().Add(40 * time.Minute)
		limited := true
		w.forge.Do(func() {
			w.forge.Fail = func(string) error {
				if limited {
					return forgetest.RateLimited(reset)
				}
				return nil
			}
		})
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 8 })
		synctest.Wait()
		first := w.forge.AllCalls()
		w.pass(39 * time.Minute)
		if got := w.forge.AllCalls() - first; got != 0 {
			t.Errorf("%d calls before the reset", got)
		}
		if h := w.engine.Health("entity"); h.Running {
			t.Error("the entity is shown as healthy while its credentials are limited")
		}
		w.forge.Do(func() { limited = false })
		w.pass(5 * time.Minute)
		if got := len(w.provider.Machines()); got != 8 {
			t.Errorf("%d machines after the reset, want 8\n%s", got, w.log.String())
		}
		if len(w.forge.All()) != 8 {
			t.Errorf("%d registrations at the forge, want 8", len(w.forge.All()))
		}
	})
}

// Runners that met a rate limit, or a refusal, go on as soon as the entity has other credentials.
func TestSV8RotatedCredentialsFreeWaitingRunners(t *testing.T) {
	for name, refusal := range map[string]error{
		"rate limit":   forgetest.RateLimited(time.Date(2000, 1, 1, 0, 55, 0, 0, time.UTC)),
		"unauthorized": forgetest.Error(fleet.ForgeUnauthorized),
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, w *world) {
				w.start()
				w.forge.Do(func() { w.forge.Fail = func(string) error { return refusal } })
				w.pool(func(p *model.Pool) { p.MinIdleRunners = 2 })
				w.pass(8 * time.Minute)
				w.forge.Do(func() { w.forge.Fail = nil })
				w.store.Changed(model.Change{Operation: model.OpUpdate, Object: w.entity().Credentials})
				w.pass(10 * time.Second)
				if got := len(w.provider.Machines()); got != 2 {
					t.Errorf("%d machines, want 2: %+v", got, w.rows())
				}
			})
		})
	}
}

// A pool whose runners cannot be registered is empty, so that it can be deleted, as soon as it is disabled.
func TestSV29DisablingAPoolGivesUpWhatWaits(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.forge.Fail = func(op string) error {
			if op == "JITConfig" {
				return forgetest.Error(fleet.ForgeInvalid)
			}
			return nil
		}
		p := w.pool(func(p *model.Pool) { p.MinIdleRunners = 3 })
		w.start()
		w.pass(2 * time.Hour)
		if got := w.states()[model.InstancePendingCreate]; got != 3 {
			t.Fatalf("%d rows wait, want 3", got)
		}
		p.Enabled = false
		w.store.Put(p)
		w.pass(time.Second)
		if rows := w.rows(); len(rows) != 0 {
			t.Errorf("the disabled pool still has %+v", rows)
		}
	})
}
