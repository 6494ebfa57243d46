package fleet_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Whatever a provider answers that it may not answer, it is asked once: one machine, one clear error.
func TestSV37AnswerOutsideTheProtocolMakesNoSecondMachine(t *testing.T) {
	for _, providerID := range []string{"id-of-it", ""} {
		t.Run("provider_id="+providerID, func(t *testing.T) {
			simulate(t, func(t *testing.T, w *world) {
				w.provider.OnCreate = func(_ context.Context, _ fleet.Bootstrap, made func()) (fleet.Machine, error) {
					made()
					return fleet.Machine{}, &fleet.ProviderError{
						Kind: fleet.ProviderBadAnswer, Op: "CreateInstance", Fault: `invalid status returned ("pending_create")`, ProviderID: providerID,
					}
				}
				w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
				w.start()
				w.pass(18 * time.Minute)
				if got := len(w.provider.Creates()); got != 1 {
					t.Errorf("%d creates, want 1", got)
				}
				if got := w.provider.Most(); got != 1 {
					t.Errorf("%d machines at a time, want 1", got)
				}
				rows := w.rows()
				if len(rows) != 1 || rows[0].Status != model.InstanceError || !strings.Contains(string(rows[0].ProviderFault), "pending_create") || rows[0].ProviderID != providerID {
					t.Fatalf("rows: %+v", rows)
				}
				if got := len(w.store.Messages(rows[0].ID)); got != 1 {
					t.Errorf("%d messages, want 1", got)
				}
				if err := w.engine.DeleteInstance(t.Context(), rows[0].ID, false, false); err != nil {
					t.Fatal(err)
				}
				w.pool(func(p *model.Pool) { p.Enabled = false })
				w.pass(time.Minute)
				for _, row := range w.rows() {
					if row.ID == rows[0].ID {
						t.Errorf("the row is still there after its removal: %+v", row)
					}
				}
			})
		})
	}
}

// The runner of such a machine may work all the same: it does its job, and only then there is a next one.
func TestSV37RunnerOfABadAnswerIsUsed(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.provider.OnCreate = func(_ context.Context, b fleet.Bootstrap, made func()) (fleet.Machine, error) {
			made()
			return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderBadAnswer, Fault: "bad", ProviderID: "id-" + b.Name}
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
		w.start()
		row := w.rows()[0]
		w.change(row, func(i *model.Instance) { i.RunnerStatus = model.RunnerActive })
		w.forge.Drop(row.Name)
		w.change(row, func(i *model.Instance) {
			i.RunnerStatus, i.Status = model.RunnerTerminated, model.InstancePendingDelete
		})
		if got := w.provider.Most(); got != 1 {
			t.Errorf("%d machines at a time, want 1", got)
		}
		if got := len(w.provider.Creates()); got != 2 {
			t.Errorf("%d creates, want a second one after the job", got)
		}
	})
}

// A create that fails after it made the machine, and a clean-up that fails too: never a second machine.
func TestSV23RetryOnlyAfterAProvenCleanUp(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		fails, deletes := 1, 0
		w.provider.OnCreate = func(_ context.Context, b fleet.Bootstrap, made func()) (fleet.Machine, error) {
			made()
			if fails > 0 {
				fails--
				return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderFailed, Fault: "out of quota"}
			}
			return fleet.Machine{ProviderID: "id-" + b.Name, Name: b.Name, Status: model.InstanceRunning}, nil
		}
		w.provider.OnDelete = func(context.Context, string) error {
			if deletes++; deletes <= 3 {
				return errors.New("the cloud is down")
			}
			return nil
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
		w.start()
		row := w.rows()[0]
		if row.Status != model.InstanceError || string(row.ProviderFault) != "out of quota" {
			t.Fatalf("after the failed create: %+v", row)
		}
		w.pass(3 * time.Minute)
		row = w.row(row.Name)
		if row.Status != model.InstanceRunning || row.CreateAttempt != 2 || len(row.ProviderFault) != 0 {
			t.Errorf("after the clean-up: %+v", row)
		}
		if got := w.provider.Most(); got != 1 {
			t.Errorf("%d machines at a time, want 1", got)
		}
		if got := len(w.provider.Creates()); got != 2 {
			t.Errorf("%d creates, want 2", got)
		}
	})
}

func TestSV23GivesUpAfterFiveAttempts(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.provider.OnCreate = func(context.Context, fleet.Bootstrap, func()) (fleet.Machine, error) {
			return fleet.Machine{Status: model.InstanceError, ProviderID: "x", Name: "x", Fault: []byte("no image")}, nil
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
		w.start()
		name := w.rows()[0].Name
		w.pass(90 * time.Second)
		row := w.row(name)
		if row.Status != model.InstanceError || row.CreateAttempt != 5 || !row.RetryAt.IsZero() || string(row.ProviderFault) != "no image" {
			t.Errorf("after five attempts: %+v", row)
		}
		if got := len(w.provider.Creates()); got != 5 {
			t.Errorf("%d creates, want 5", got)
		}
		if got := len(w.store.Messages(row.ID)); got != 5 {
			t.Errorf("%d messages, want one per attempt", got)
		}
	})
}

// A pool whose runners all fail tries less and less often.
func TestPoolWithABrokenImageBacksOff(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.limits.CreateAttempts = 1
		w.provider.OnCreate = func(context.Context, fleet.Bootstrap, func()) (fleet.Machine, error) {
			return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderFailed, Fault: "no image"}
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 2, 50 })
		w.start()
		w.pass(20 * time.Minute)
		if got := len(w.provider.Creates()); got < 4 || got > 16 {
			t.Errorf("%d creates in 20 minutes of failure", got)
		}
	})
}

func TestSV28CreatesAndDeletesUnderWayAreResolved(t *testing.T) {
	row := func(w *world, name string, status model.InstanceStatus) model.Instance {
		i := model.Instance{
			ID: model.InstanceID(name), Name: name, PoolID: "pool", EntityID: "entity", ProviderName: "local", Status: status,
			RunnerStatus: model.RunnerPending, CreateAttempt: 1, CreatedAt: time.Now(), UpdatedAt: time.Now(),
		}
		w.store.Put(i)
		return i
	}
	simulate(t, func(t *testing.T, w *world) {
		w.pool(nil)
		row(w, "made", model.InstanceCreating)
		w.provider.Add("pool", "made")
		row(w, "not-made", model.InstanceCreating)
		row(w, "going", model.InstanceDeleting)
		w.provider.Add("pool", "going")
		row(w, "gone", model.InstanceDeleting)
		forced := row(w, "forced", model.InstanceDeleting)
		forced.DeletingFrom = model.InstancePendingForceDelete
		w.store.Put(forced)
		w.start()
		w.pass(time.Minute)
		rows := w.rows()
		if len(rows) != 2 {
			t.Fatalf("%d rows, want 2: %+v", len(rows), rows)
		}
		for _, i := range rows {
			if i.Status != model.InstanceRunning || i.ProviderID != "id-"+i.Name {
				t.Errorf("row %+v", i)
			}
		}
		if got := w.row("made").CreateAttempt; got != 1 {
			t.Errorf("an adopted machine is of attempt %d: its token would be void", got)
		}
		if got := w.provider.Machines(); len(got) != 2 || w.provider.Most() > 3 {
			t.Errorf("machines %v", got)
		}
		for _, b := range w.provider.Creates() {
			if b.Name != "not-made" {
				t.Errorf("%s was created again", b.Name)
			}
		}
	})
}

// The engine is stopped in the middle of a create and started anew: one machine.
func TestSV28StopDuringCreate(t *testing.T) {
	for _, made := range []bool{true, false} {
		simulate(t, func(t *testing.T, w *world) {
			w.provider.OnCreate = func(ctx context.Context, _ fleet.Bootstrap, make func()) (fleet.Machine, error) {
				if made {
					make()
				}
				<-ctx.Done()
				return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderTimeout, Fault: "killed", Err: ctx.Err()}
			}
			w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
			w.start()
			if got := w.states()[model.InstanceCreating]; got != 1 {
				t.Fatalf("%d rows in creating while the provider works", got)
			}
			w.stop()
			if got := w.states()[model.InstanceCreating]; got != 1 {
				t.Fatalf("%d rows in creating after the stop: %v", got, w.states())
			}
			w.provider.OnCreate = nil
			w.start()
			w.pass(time.Minute)
			if w.provider.Most() != 1 || len(w.provider.Machines()) != 1 || w.states()[model.InstanceRunning] != 1 {
				t.Errorf("made=%v: machines %v, most %d, rows %v", made, w.provider.Machines(), w.provider.Most(), w.states())
			}
		})
	}
}

func TestSV38HangingProviderEndsAtTheBootstrapTimeout(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.provider.OnCreate = func(ctx context.Context, _ fleet.Bootstrap, _ func()) (fleet.Machine, error) {
			<-ctx.Done()
			return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderTimeout, Fault: "killed"}
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.BootstrapTimeout = 30, 10*time.Minute; p.MaxRunners = 30 })
		w.limits.ProviderCreates = 10
		// Creates that hang take no place from deletions.
		leaving := model.Instance{ID: "leaving", Name: "leaving", PoolID: "pool", EntityID: "entity", ProviderName: "local", Status: model.InstanceRunning, RunnerStatus: model.RunnerTerminated, CreatedAt: time.Now()}
		w.start()
		w.store.Put(leaving)
		w.pass(time.Second)
		if got := len(w.provider.Creates()); got != 10 {
			t.Errorf("%d creates at a time, want 10", got)
		}
		if got := w.provider.Deletes(); len(got) != 1 {
			t.Errorf("deletes while creates hang: %v", got)
		}
		w.pass(10 * time.Minute)
		if got := w.states()[model.InstanceError] + w.states()[model.InstancePendingCreate]; got < 10 {
			t.Errorf("states after the timeout: %v", w.states())
		}
	})
}

func TestSV20RegistrationsMatchRows(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.MaxRunners = 4, 8 })
		w.start()
		for id := range int64(20) {
			w.job(id+1, "linux")
		}
		w.pass(5 * time.Minute)
		if w.store.Most("pool") > 8 || len(w.rows()) != len(w.forge.All()) {
			t.Errorf("most rows %d, rows %d, registrations %d", w.store.Most("pool"), len(w.rows()), len(w.forge.All()))
		}
	})
}

// A registration of an earlier try that was never noted does not stay.
func TestSV20LeftRegistrationIsReplaced(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(nil)
		w.store.Put(model.Instance{ID: "x", Name: "x", PoolID: "pool", EntityID: "entity", ProviderName: "local", Status: model.InstancePendingCreate, RunnerStatus: model.RunnerPending, CreateAttempt: 1, CreatedAt: time.Now()})
		w.forge.Add(fleet.Runner{Name: "x", Labels: []string{"runner-controller-id:" + controllerID}})
		w.start()
		if got := w.forge.All(); len(got) != 1 || w.row("x").AgentID != got[0].ID || w.row("x").Status != model.InstanceRunning {
			t.Errorf("registrations %+v, row %+v", got, w.row("x"))
		}
	})
}

func TestJITFallsBackOnlyWhereThereIsNone(t *testing.T) {
	for kind, wantJIT := range map[fleet.ForgeErrorKind]bool{
		fleet.ForgeNotFound: false, fleet.ForgeUnavailable: true, fleet.ForgeInvalid: true,
	} {
		simulate(t, func(t *testing.T, w *world) {
			failures := 2
			w.forge.Fail = func(op string) error {
				if op == "JITConfig" && failures > 0 {
					failures--
					return forgetest.Error(kind)
				}
				return nil
			}
			w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
			w.start()
			w.pass(time.Minute)
			row := w.rows()[0]
			if row.Status != model.InstanceRunning || row.JIT != wantJIT {
				t.Fatalf("kind %d: %+v", kind, row)
			}
			b := w.provider.Creates()[0]
			if b.JIT != wantJIT || (len(b.Labels) == 0) != wantJIT {
				t.Errorf("kind %d: bootstrap says JIT %v, labels %v", kind, b.JIT, b.Labels)
			}
			if told := len(w.store.Messages(row.ID)) > 0; told == wantJIT {
				t.Errorf("kind %d: the downgrade was told: %v", kind, told)
			}
		})
	}
}

func TestProviderThatDisablesJIT(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.provider.NoJIT = true
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.start()
		b := w.provider.Creates()[0]
		want := "linux,x64,runner-controller-id:" + controllerID + ",runner-pool-id:pool"
		if got := strings.Join(b.Labels, ","); b.JIT || got != want {
			t.Errorf("labels %s, want %s", got, want)
		}
		if w.forge.Calls("JITConfig") != 0 {
			t.Error("a just-in-time configuration was asked for")
		}
		if b.Token != "token-of-"+b.Name || b.RepoURL == "" || b.CallbackURL == "" || b.MetadataURL == "" || len(b.Tools) != 1 {
			t.Errorf("bootstrap %+v", b)
		}
	})
}

// The wait for the next try is spent in error, where users see what failed; a disabled pool keeps such rows as they are.
func TestFailedCreateStaysInError(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		broken := true
		w.provider.OnCreate = func(_ context.Context, b fleet.Bootstrap, made func()) (fleet.Machine, error) {
			if broken {
				return fleet.Machine{}, &fleet.ProviderError{Kind: fleet.ProviderFailed, Fault: "out of quota"}
			}
			made()
			return fleet.Machine{ProviderID: "id-" + b.Name, Name: b.Name, Status: model.InstanceRunning}, nil
		}
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.start()
		failed := func(when string) model.Instance {
			rows := w.rows()
			if len(rows) != 1 || rows[0].Status != model.InstanceError || string(rows[0].ProviderFault) != "out of quota" {
				t.Fatalf("%s: %+v", when, rows)
			}
			return rows[0]
		}
		row := failed("after the failed create")
		w.pass(4 * time.Second)
		failed("during the wait")
		w.pool(func(p *model.Pool) { p.MinIdleRunners, p.Enabled = 1, false })
		w.pass(5 * time.Minute)
		failed("in a disabled pool")
		if got := len(w.provider.Creates()); got != 1 {
			t.Errorf("%d creates, want none by the disabled pool", got)
		}
		broken = false
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.pass(time.Second)
		if rows := w.rows(); len(rows) != 1 || rows[0].ID != row.ID || rows[0].Status != model.InstanceRunning {
			t.Errorf("after the pool was enabled again: %+v", rows)
		}
	})
}

// Instances that wait for one of the few creates of a provider, and are then not wanted any more, hold up none that wait
// behind them.
func TestUnwantedInstancesPassTheirTurnOn(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.limits.ProviderCreates = 2
		w.provider.OnCreate = func(_ context.Context, b fleet.Bootstrap, made func()) (fleet.Machine, error) {
			time.Sleep(time.Minute)
			made()
			return fleet.Machine{ProviderID: "id-" + b.Name, Name: b.Name, Status: model.InstanceRunning}, nil
		}
		first := w.pool(func(p *model.Pool) { p.MinIdleRunners = 8 })
		w.start()
		w.pass(time.Second)
		second := w.pool(func(p *model.Pool) { p.ID, p.MinIdleRunners = "second", 2 })
		w.pass(time.Second)
		first.Enabled = false
		w.store.Put(first)
		w.pass(3 * time.Minute)
		rows, err := w.store.InstancesOfPool(t.Context(), second.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 2 || rows[0].Status != model.InstanceRunning || rows[1].Status != model.InstanceRunning {
			t.Errorf("the instances that waited longest are still not made: %+v", rows)
		}
	})
}
