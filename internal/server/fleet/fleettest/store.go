package fleettest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Store is a fleet.Store in memory. Its zero value is empty and ready.
type Store struct {
	// Changed is called with each committed change, under the lock of the store; it must not call the store.
	Changed func(changes ...model.Change)

	mu         sync.Mutex
	controller model.Controller
	entities   map[model.EntityID]model.Entity
	events     map[model.EntityID][]string
	pools      map[model.PoolID]model.Pool
	instances  map[model.InstanceID]model.Instance
	jit        map[model.InstanceID]model.JITConfig
	messages   map[model.InstanceID][]model.InstanceMessage
	jobs       map[model.JobID]model.Job
	// most is the largest number of rows that a pool ever had.
	most map[model.PoolID]int
	// atOnce is the largest number of rows that were ever added to a pool in one transaction.
	atOnce map[model.PoolID]int
}

var _ fleet.Store = (*Store)(nil)

func (s *Store) tell(op model.Operation, object any) {
	if s.Changed != nil {
		s.Changed(model.Change{Operation: op, Object: object})
	}
}

func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// Put stores objects as they are: a Controller, Entity, Pool, Instance or Job.
func (s *Store) Put(objects ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, object := range objects {
		switch o := object.(type) {
		case model.Controller:
			s.controller = o
		case model.Entity:
			put(&s.entities, o.ID, o)
		case model.Pool:
			put(&s.pools, o.ID, o)
		case model.Instance:
			put(&s.instances, o.ID, o)
		case model.Job:
			put(&s.jobs, o.ID, o)
		default:
			panic("fleettest: this store keeps no such object")
		}
		s.tell(model.OpUpdate, object)
	}
}

// Events returns the events of an entity.
func (s *Store) Events(id model.EntityID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[id])
}

// Messages returns the history of an instance.
func (s *Store) Messages(id model.InstanceID) []model.InstanceMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages[id])
}

// Most is the largest number of rows that a pool ever had.
func (s *Store) Most(id model.PoolID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most[id]
}

// MostAtOnce is the largest number of rows that were ever added to a pool in one transaction.
func (s *Store) MostAtOnce(id model.PoolID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.atOnce[id]
}

// Job returns a job.
func (s *Store) Job(id model.JobID) model.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[id]
}

// Controller implements fleet.Store.
func (s *Store) Controller(context.Context) (model.Controller, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.controller, nil
}

func values[K cmp.Ordered, V any](m map[K]V, keep func(V) bool) []V {
	var out []V
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if keep(m[key]) {
			out = append(out, m[key])
		}
	}
	return out
}

func all[V any](V) bool { return true }

func one[K comparable, V any](m map[K]V, key K) (V, error) {
	v, ok := m[key]
	if !ok {
		return v, model.NotFound("no %T %v", v, key)
	}
	return v, nil
}

// Entities implements fleet.Store.
func (s *Store) Entities(context.Context) ([]model.Entity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return values(s.entities, all), nil
}

// Entity implements fleet.Store.
func (s *Store) Entity(_ context.Context, id model.EntityID) (model.Entity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return one(s.entities, id)
}

// ForgeSecret implements fleet.Store.
func (s *Store) ForgeSecret(context.Context, model.CredentialsID) (model.ForgeSecret, error) {
	return model.ForgeSecret{Token: "token"}, nil
}

// AddEntityEvent implements fleet.Store.
func (s *Store) AddEntityEvent(_ context.Context, id model.EntityID, _ model.EventLevel, message string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	put(&s.events, id, append(s.events[id], message))
	return nil
}

// Pools implements fleet.Store.
func (s *Store) Pools(context.Context) ([]model.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return values(s.pools, all), nil
}

// PoolsOfEntity implements fleet.Store.
func (s *Store) PoolsOfEntity(_ context.Context, id model.EntityID) ([]model.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return values(s.pools, func(p model.Pool) bool { return p.EntityID == id }), nil
}

// Pool implements fleet.Store.
func (s *Store) Pool(_ context.Context, id model.PoolID) (model.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return one(s.pools, id)
}

// Instances implements fleet.Store.
func (s *Store) Instances(context.Context) ([]model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return values(s.instances, all), nil
}

// InstancesOfEntity implements fleet.Store.
func (s *Store) InstancesOfEntity(_ context.Context, id model.EntityID) ([]model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return values(s.instances, func(i model.Instance) bool { return i.EntityID == id }), nil
}

// InstancesOfPool implements fleet.Store.
func (s *Store) InstancesOfPool(_ context.Context, id model.PoolID) ([]model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ofPool(id), nil
}

func (s *Store) ofPool(id model.PoolID) []model.Instance {
	return values(s.instances, func(i model.Instance) bool { return i.PoolID == id })
}

// Instance implements fleet.Store.
func (s *Store) Instance(_ context.Context, id model.InstanceID) (model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return one(s.instances, id)
}

// InstanceByName implements fleet.Store.
func (s *Store) InstanceByName(_ context.Context, name string) (model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := values(s.instances, func(i model.Instance) bool { return strings.EqualFold(i.Name, name) })
	if len(found) == 0 {
		return model.Instance{}, model.NotFound("no instance %q", name)
	}
	return found[0], nil
}

// ReserveInstances implements fleet.Store.
func (s *Store) ReserveInstances(_ context.Context, id model.PoolID, plan func(model.Pool, []model.Instance) []model.Instance) ([]model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pool, err := one(s.pools, id)
	if err != nil {
		return nil, err
	}
	added := plan(pool, s.ofPool(id))
	for _, row := range added {
		put(&s.instances, row.ID, row)
		s.tell(model.OpCreate, row)
	}
	put(&s.most, id, max(s.most[id], len(s.ofPool(id))))
	put(&s.atOnce, id, max(s.atOnce[id], len(added)))
	return added, nil
}

// UpdateInstance implements fleet.Store.
func (s *Store) UpdateInstance(_ context.Context, id model.InstanceID, update func(*model.Instance) error) (model.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := one(s.instances, id)
	if err != nil {
		return model.Instance{}, err
	}
	if err := update(&row); err != nil {
		return model.Instance{}, err
	}
	row.UpdatedAt = time.Now()
	s.instances[id] = row
	s.tell(model.OpUpdate, row)
	return row, nil
}

// DeleteInstance implements fleet.Store.
func (s *Store) DeleteInstance(_ context.Context, id model.InstanceID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.instances[id]
	if !ok {
		return nil
	}
	delete(s.instances, id)
	delete(s.jit, id)
	s.tell(model.OpDelete, row)
	return nil
}

// AddInstanceMessage implements fleet.Store.
func (s *Store) AddInstanceMessage(_ context.Context, id model.InstanceID, message model.InstanceMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	put(&s.messages, id, append(s.messages[id], message))
	return nil
}

// SetJITConfig implements fleet.Store.
func (s *Store) SetJITConfig(ctx context.Context, id model.InstanceID, agentID int64, config model.JITConfig) (model.Instance, error) {
	row, err := s.UpdateInstance(ctx, id, func(row *model.Instance) error {
		row.JIT, row.AgentID = true, agentID
		return nil
	})
	if err != nil {
		return row, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	put(&s.jit, id, config)
	return row, nil
}

// QueuedJobs implements fleet.Store.
func (s *Store) QueuedJobs(_ context.Context, id model.EntityID) ([]model.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return values(s.jobs, func(j model.Job) bool { return j.EntityID == id && j.Status == model.JobQueued }), nil
}

// UpdateJob implements fleet.Store.
func (s *Store) UpdateJob(_ context.Context, id model.JobID, update func(*model.Job) error) (model.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, err := one(s.jobs, id)
	if err != nil {
		return job, err
	}
	if err := update(&job); err != nil {
		return model.Job{}, err
	}
	s.jobs[id] = job
	s.tell(model.OpUpdate, job)
	return job, nil
}

// DeleteJob implements fleet.Store.
func (s *Store) DeleteJob(_ context.Context, id model.JobID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job, ok := s.jobs[id]; ok {
		delete(s.jobs, id)
		s.tell(model.OpDelete, job)
	}
	return nil
}
