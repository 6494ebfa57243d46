package fleet_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/fleet/fleettest"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

const controllerID = "6d6b51f7-0d3a-4f29-9d51-9a5d7f4b8a01"

// world is an engine with everything around it in memory. It lives in a bubble of simulated time.
type world struct {
	t     *testing.T
	store *fleettest.Store
	forge *forgetest.Forge
	// forges replaces forge where entities have forges of their own.
	forges   fleet.Forges
	provider *fleettest.Provider
	engine   *fleet.Engine
	limits   fleet.Limits
	log      bytes.Buffer
	stop     func()
}

type tokens struct{}

func (tokens) InstanceToken(i model.Instance, _ model.Entity, _ time.Duration) (string, error) {
	return "token-of-" + i.Name, nil
}

// simulate runs do in a bubble and stops the engine after it.
func simulate(t *testing.T, do func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: &fleettest.Store{}, forge: &forgetest.Forge{}, provider: &fleettest.Provider{}, stop: func() {}}
		w.store.Put(model.Controller{ID: controllerID, MetadataURL: "https://garm.test/metadata", CallbackURL: "https://garm.test/callbacks", JobBackoff: 30 * time.Second})
		w.store.Put(w.entity())
		do(t, w)
		w.stop()
	})
}

func (w *world) entity() model.Entity {
	return model.Entity{ID: "entity", Kind: model.KindOrganization, Name: "acme", Credentials: model.Credentials{ID: 7, Endpoint: model.Endpoint{Name: "github.com"}}}
}

func (w *world) pool(change func(p *model.Pool)) model.Pool {
	p := model.Pool{
		ID: "pool", EntityID: "entity", EntityKind: model.KindOrganization, EntityName: "acme", ProviderName: "local",
		RunnerPrefix: "garm", OSType: model.Linux, OSArch: model.AMD64, Tags: []model.Tag{{Name: "linux"}, {Name: "x64"}},
		MaxRunners: 10, Enabled: true, BootstrapTimeout: 20 * time.Minute, CreatedAt: time.Now(),
	}
	if change != nil {
		change(&p)
	}
	w.store.Put(p)
	return p
}

// start runs a new engine on the store, and waits until it has nothing to do for now.
func (w *world) start() {
	w.t.Helper()
	if w.forges == nil {
		w.forges = w.forge
	}
	w.engine = fleet.New(fleet.Options{
		Store: w.store, Forges: w.forges, Providers: fleettest.Providers{"local": w.provider}, Tokens: tokens{},
		Logger: slog.New(slog.NewTextHandler(&w.log, nil)), Limits: w.limits,
	})
	w.store.Changed = w.engine.Notify
	ctx, cancel := context.WithCancel(w.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := w.engine.Run(ctx); err != nil {
			w.t.Error(err)
		}
	})
	w.stop = func() {
		cancel()
		done.Wait()
		w.stop = func() {}
	}
	synctest.Wait()
}

// pass lets simulated time go by.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) rows() []model.Instance {
	w.t.Helper()
	rows, err := w.store.Instances(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// states counts the rows by status.
func (w *world) states() map[model.InstanceStatus]int {
	out := map[model.InstanceStatus]int{}
	for _, row := range w.rows() {
		out[row.Status]++
	}
	return out
}

func (w *world) row(name string) model.Instance {
	w.t.Helper()
	row, err := w.store.InstanceByName(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return row
}

func (w *world) change(row model.Instance, change func(i *model.Instance)) {
	w.t.Helper()
	if _, err := w.store.UpdateInstance(w.t.Context(), row.ID, func(i *model.Instance) error { change(i); return nil }); err != nil {
		w.t.Fatal(err)
	}
	w.pass(100 * time.Millisecond) // the engine gathers changes for a moment
}

// idle makes all runners that wait for it report that they are idle, as their bootstrap scripts do.
func (w *world) idle() {
	w.t.Helper()
	for _, row := range w.rows() {
		if row.Status == model.InstanceRunning && row.RunnerStatus == model.RunnerPending {
			w.forge.Change(row.Name, func(r *fleet.Runner) { r.Online = true })
			w.change(row, func(i *model.Instance) { i.RunnerStatus = model.RunnerIdle })
		}
	}
}

func (w *world) job(id int64, labels ...string) model.Job {
	j := model.Job{ID: model.JobID(id), WorkflowJobID: 1000 + id, Status: model.JobQueued, Labels: labels, EntityID: "entity", CreatedAt: time.Now(), UpdatedAt: time.Now()}
	w.store.Put(j)
	return j
}
