package fleettest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Provider is a fleet.Provider whose machines exist in memory. Its zero value works.
type Provider struct {
	// OnCreate, when set, replaces the making of a machine; made adds one, whatever the answer is.
	OnCreate func(ctx context.Context, bootstrap fleet.Bootstrap, made func()) (fleet.Machine, error)
	// OnDelete, when set, is asked before a machine is removed; an error keeps the machine.
	OnDelete func(ctx context.Context, id string) error
	NoJIT    bool

	mu       sync.Mutex
	machines map[string]fleet.Machine
	pools    map[string]model.PoolID
	creates  []fleet.Bootstrap
	deletes  []string
	most     int
}

// Machines returns the names of the machines that exist.
func (p *Provider) Machines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.machines))
}

// Most is the largest number of machines that ever existed at a time.
func (p *Provider) Most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// Creates returns what was asked for, in order.
func (p *Provider) Creates() []fleet.Bootstrap {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.creates)
}

// Deletes returns the ids that were asked to be removed, in order.
func (p *Provider) Deletes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.deletes)
}

// Add makes a machine that nobody asked for.
func (p *Provider) Add(pool model.PoolID, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(pool, name)
}

func (p *Provider) add(pool model.PoolID, name string) fleet.Machine {
	m := fleet.Machine{ProviderID: "id-" + name, Name: name, Status: model.InstanceRunning}
	put(&p.machines, name, m)
	put(&p.pools, name, pool)
	p.most = max(p.most, len(p.machines))
	return m
}

// Create implements fleet.Provider.
func (p *Provider) Create(ctx context.Context, pool model.Pool, bootstrap fleet.Bootstrap) (fleet.Machine, error) {
	p.mu.Lock()
	p.creates = append(p.creates, bootstrap)
	p.mu.Unlock()
	made := func() { p.Add(pool.ID, bootstrap.Name) }
	if p.OnCreate != nil {
		return p.OnCreate(ctx, bootstrap, made)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.add(pool.ID, bootstrap.Name), nil
}

// Delete implements fleet.Provider.
func (p *Provider) Delete(ctx context.Context, _ model.Pool, id string) error {
	p.mu.Lock()
	p.deletes = append(p.deletes, id)
	p.mu.Unlock()
	if p.OnDelete != nil {
		if err := p.OnDelete(ctx, id); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, m := range p.machines {
		if name == id || m.ProviderID == id {
			delete(p.machines, name)
		}
	}
	return nil
}

// List implements fleet.Provider.
func (p *Provider) List(_ context.Context, pool model.Pool) ([]fleet.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []fleet.Machine
	for _, name := range slices.Sorted(maps.Keys(p.machines)) {
		if p.pools[name] == pool.ID {
			out = append(out, p.machines[name])
		}
	}
	return out, nil
}

// DisablesJIT implements fleet.Provider.
func (p *Provider) DisablesJIT() bool { return p.NoJIT }

// Providers finds providers by name.
type Providers map[string]fleet.Provider

// Provider implements fleet.Providers.
func (p Providers) Provider(name string) (fleet.Provider, bool) {
	found, ok := p[name]
	return found, ok
}
