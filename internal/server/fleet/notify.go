package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Notify wakes what the committed changes concern. It never blocks and reads nothing. A change that is not told is found
// at the next resync.
func (e *Engine) Notify(changes ...model.Change) {
	e.wake(func(q *queues) {
		for _, c := range changes {
			q.notify(c)
		}
	})
}

func (q *queues) notify(c model.Change) {
	switch o := c.Object.(type) {
	case model.Instance:
		if c.Operation != model.OpDelete {
			q.instance(o)
		}
		// A look at a pool or at the jobs reads all rows: a burst of n changes must not cost n of them.
		q.pools.soon(o.PoolID)
		q.jobs.soon(o.EntityID)
	case model.Pool:
		q.pools.add(o.ID)
		q.jobs.add(o.EntityID)
	case model.Job:
		if o.EntityID != "" {
			q.jobs.add(o.EntityID)
		}
	case model.Entity:
		q.entities.add(o.ID)
	case model.Credentials:
		q.engine.gate.open(o.ID)
		q.engine.entities.refresh(func(s *entityState) bool { return s.credentials == o.ID }, q.entities.add)
	case model.Endpoint:
		q.engine.entities.refresh(func(s *entityState) bool { return s.endpoint == o.Name }, q.entities.add)
	case model.Controller:
		q.resync.add(struct{}{})
	}
}

// resyncAll wakes everything there is.
func (e *Engine) resyncAll(ctx context.Context, _ struct{}) (time.Duration, error) {
	entities, err := e.store.Entities(ctx)
	if err != nil {
		return 0, fmt.Errorf("listing entities: %w", err)
	}
	pools, err := e.store.Pools(ctx)
	if err != nil {
		return 0, fmt.Errorf("listing pools: %w", err)
	}
	instances, err := e.store.Instances(ctx)
	if err != nil {
		return 0, fmt.Errorf("listing instances: %w", err)
	}
	e.wake(func(q *queues) {
		for _, entity := range entities {
			q.entities.add(entity.ID)
			q.jobs.add(entity.ID)
		}
		for _, pool := range pools {
			q.pools.add(pool.ID)
		}
		for _, row := range instances {
			q.instance(row)
		}
	})
	return jitter(e.limits.ResyncEvery), nil
}

// wakeEntity wakes all that waited for an entity to become healthy.
func (e *Engine) wakeEntity(ctx context.Context, id model.EntityID) error {
	pools, err := e.store.PoolsOfEntity(ctx, id)
	if err != nil {
		return fmt.Errorf("listing the pools of an entity: %w", err)
	}
	rows, err := e.store.InstancesOfEntity(ctx, id)
	if err != nil {
		return fmt.Errorf("listing the instances of an entity: %w", err)
	}
	e.wake(func(q *queues) {
		q.jobs.add(id)
		for _, pool := range pools {
			q.pools.add(pool.ID)
		}
		for _, row := range rows {
			q.instance(row)
		}
	})
	return nil
}

// jitter spreads d by a tenth in both directions.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}
