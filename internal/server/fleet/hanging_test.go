package fleet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/forge/forgetest"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// hang is how long a call of a forge takes that does not answer.
const hang = 30 * time.Second

// oneEndpointHangs has no call of the endpoint "ghes" answered once silent.
type oneEndpointHangs struct {
	forge  *forgetest.Forge
	silent func() bool
}

func (o oneEndpointHangs) Forge(_ context.Context, e model.Entity) (fleet.Forge, error) {
	if e.Endpoint().Name == "ghes" {
		return hanging{o.forge, o.silent}, nil
	}
	return o.forge, nil
}

type hanging struct {
	*forgetest.Forge
	silent func() bool
}

func (h hanging) wait() error {
	if !h.silent() {
		return nil
	}
	time.Sleep(hang)
	return forgetest.Error(fleet.ForgeUnavailable)
}

func (h hanging) Tools(ctx context.Context) ([]fleet.Tool, error) {
	if err := h.wait(); err != nil {
		return nil, err
	}
	return h.Forge.Tools(ctx)
}

func (h hanging) JITConfig(ctx context.Context, name, group string, labels []string) (fleet.Runner, model.JITConfig, error) {
	if err := h.wait(); err != nil {
		return fleet.Runner{}, nil, err
	}
	return h.Forge.JITConfig(ctx, name, group, labels)
}

func (w *world) entityAt(endpoint model.EndpointName, id model.EntityID) {
	w.store.Put(model.Entity{ID: id, Kind: model.KindOrganization, Name: string(id), Credentials: model.Credentials{ID: 8, Endpoint: model.Endpoint{Name: endpoint}}})
}

// Many entities of a forge that does not answer keep nobody else waiting, however they lie in the queue.
func TestSV57HangingForgeKeepsNobodyWaiting(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.forges = oneEndpointHangs{w.forge, func() bool { return true }}
		for i := range 40 {
			w.entityAt("ghes", model.EntityID(fmt.Sprintf("dead-%02d", i)))
		}
		w.entityAt("github.com", "zlast")
		w.pool(func(p *model.Pool) { p.EntityID, p.MinIdleRunners = "zlast", 1 })
		w.start()
		w.pass(5 * time.Second)
		if got := len(w.provider.Machines()); got != 1 {
			t.Errorf("%d machines of the healthy entity, health %+v", got, w.engine.Health("zlast"))
		}
	})
}

// A forge that stops answering is seen by the first call that fails: then its runners wait, and leave the creates of
// their provider to others.
func TestForgeThatStopsAnsweringIsLeftAlone(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		silent := false
		w.forges = oneEndpointHangs{w.forge, func() bool { return silent }}
		w.entityAt("ghes", "dead")
		w.start()
		w.pass(time.Second)
		silent = true
		w.pool(func(p *model.Pool) { p.ID, p.EntityID, p.MinIdleRunners, p.MaxRunners = "deadpool", "dead", 90, 90 })
		w.pass(time.Second)
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.pass(3 * hang)
		if w.engine.Health("dead").Running {
			t.Error("the entity whose forge does not answer is shown as healthy")
		}
		if got := len(w.provider.Machines()); got != 1 {
			t.Errorf("%d machines of the healthy entity", got)
		}
	})
}
