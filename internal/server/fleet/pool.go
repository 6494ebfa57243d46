package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// reconcilePool keeps the minimum of idle runners and removes what is too much.
func (e *Engine) reconcilePool(ctx context.Context, id model.PoolID) (time.Duration, error) {
	pool, err := e.store.Pool(ctx, id)
	if model.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading a pool: %w", err)
	}
	// What waits for an unhealthy entity is woken when the entity is healthy again.
	if pool.Enabled && !e.Health(pool.EntityID).Running {
		return 0, nil
	}
	rows, err := e.store.InstancesOfPool(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("listing the instances of a pool: %w", err)
	}
	if !pool.Enabled {
		e.wakeUnwanted(pool, rows)
		return 0, nil
	}
	e.wakeFailed(rows)
	now := time.Now()
	s := e.sizeOf(now, pool, rows, 0)
	if s.Create == 0 && len(s.Remove) > 0 {
		queued, err := e.queuedFor(ctx, pool)
		if err != nil {
			return 0, err
		}
		s = e.sizeOf(now, pool, rows, queued)
	}
	if s.Create > 0 {
		made, err := e.reserve(ctx, pool, func(pool model.Pool, rows []model.Instance) int {
			return e.sizeOf(time.Now(), pool, rows, 0).Create
		}, 0)
		if err != nil {
			return 0, err
		}
		if len(made) > 0 {
			e.log.Info("making idle runners", "pool", pool.ID, "entity", pool.EntityName, "count", len(made))
		}
	}
	for _, row := range s.Remove {
		e.scaleDown(ctx, pool, row)
	}
	if s.Look.IsZero() {
		return 0, nil
	}
	return max(time.Until(s.Look), time.Millisecond), nil
}

// wakeFailed wakes the rows whose next try is overdue: while their pool was disabled they did not ask for it.
func (e *Engine) wakeFailed(rows []model.Instance) {
	e.wake(func(q *queues) {
		for _, row := range rows {
			if row.Status == model.InstanceError && !row.RetryAt.IsZero() && !time.Now().Before(row.RetryAt) {
				q.instance(row)
			}
		}
	})
}

// wakeUnwanted wakes the rows of a disabled pool that are given up, whatever they wait for.
func (e *Engine) wakeUnwanted(pool model.Pool, rows []model.Instance) {
	e.wake(func(q *queues) {
		for _, row := range rows {
			if unwanted(pool, row) {
				q.instance(row)
			}
		}
	})
}

func (e *Engine) sizeOf(now time.Time, pool model.Pool, rows []model.Instance, queued int) size {
	return sizeOf(now, pool, rows, queued, e.limits.CreateAttempts, e.limits.ScaleDownGrace)
}

// reserveAtOnce bounds how many rows are added in one transaction, while which nothing else is written. The change that
// they are wakes the pool for more.
const reserveAtOnce = 100

// reserve adds as many rows to a pool as count says inside the transaction, never more than its maximum or reserveAtOnce.
func (e *Engine) reserve(ctx context.Context, pool model.Pool, count func(model.Pool, []model.Instance) int, job int64) ([]model.Instance, error) {
	made, err := e.store.ReserveInstances(ctx, pool.ID, func(pool model.Pool, rows []model.Instance) []model.Instance {
		n := min(count(pool, rows), int(pool.MaxRunners)-len(rows), reserveAtOnce)
		var added []model.Instance
		for range max(n, 0) {
			added = append(added, newInstance(pool, job))
		}
		return added
	})
	if err != nil && !model.IsNotFound(err) {
		return nil, fmt.Errorf("reserving instances: %w", err)
	}
	return made, nil
}

func newInstance(pool model.Pool, job int64) model.Instance {
	now := time.Now()
	return model.Instance{
		ID: model.InstanceID(uuid.NewString()), Name: runnerName(pool.RunnerPrefix),
		PoolID: pool.ID, EntityID: pool.EntityID, EntityKind: pool.EntityKind, ProviderName: pool.ProviderName,
		OSType: pool.OSType, OSArch: pool.OSArch, RunnerGroup: pool.RunnerGroup, Generation: pool.Generation,
		Status: model.InstancePendingCreate, RunnerStatus: model.RunnerPending, CreateAttempt: 1, ForJob: job,
		CreatedAt: now, UpdatedAt: now,
	}
}

// queuedFor counts the jobs of the entity that wait and that the pool could serve.
func (e *Engine) queuedFor(ctx context.Context, pool model.Pool) (int, error) {
	jobs, err := e.store.QueuedJobs(ctx, pool.EntityID)
	if err != nil {
		return 0, fmt.Errorf("listing queued jobs: %w", err)
	}
	n := 0
	for _, job := range jobs {
		if matches(pool.TagNames(), job.Labels) {
			n++
		}
	}
	return n, nil
}

// scaleDown removes a runner that its pool does not need, unless the forge says that it runs a job.
func (e *Engine) scaleDown(ctx context.Context, pool model.Pool, row model.Instance) {
	err := e.retire(ctx, row, func(current model.Instance) bool {
		return roleOf(current, e.limits.CreateAttempts) == roleOf(row, e.limits.CreateAttempts) && !instance.Leaving(current.Status)
	})
	switch {
	case err == nil:
		e.log.Info("removing a runner that the pool does not need", "pool", pool.ID, "instance", row.Name)
	case forgeKind(err) == ForgeBusy && isForgeError(err):
		e.log.Info("keeping a runner that has just taken a job", "pool", pool.ID, "instance", row.Name)
	case !stopping(ctx):
		e.log.Warn("a runner that the pool does not need was not removed", "pool", pool.ID, "instance", row.Name, "error", err)
	}
}
