package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// reconcileJobs makes runners for the jobs of an entity that have waited long enough and that no runner is on its way
// for.
func (e *Engine) reconcileJobs(ctx context.Context, id model.EntityID) (time.Duration, error) {
	jobs, err := e.store.QueuedJobs(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("listing queued jobs: %w", err)
	}
	if len(jobs) == 0 || !e.Health(id).Running {
		return 0, nil
	}
	entity, err := e.store.Entity(ctx, id)
	if model.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading an entity: %w", err)
	}
	controller, err := e.store.Controller(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the controller: %w", err)
	}
	pools, err := e.store.PoolsOfEntity(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("listing the pools of an entity: %w", err)
	}
	rows, err := e.store.InstancesOfEntity(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("listing the instances of an entity: %w", err)
	}
	// Read after the instances: a job that ended meanwhile would seem to wait for a runner that is gone, and get another.
	if jobs, err = e.store.QueuedJobs(ctx, id); err != nil {
		return 0, fmt.Errorf("listing queued jobs: %w", err)
	}
	plan := planJobs(time.Now(), controller.JobBackoff, jobs, pools, rows, e.limits.CreateAttempts)
	for _, job := range plan.covered {
		if err := e.lockJob(ctx, job, entity.ID); err != nil {
			return 0, err
		}
	}
	for _, need := range plan.needed {
		if err := e.serve(ctx, entity, need); err != nil {
			return 0, err
		}
	}
	if plan.look.IsZero() {
		return 0, nil
	}
	return max(time.Until(plan.look), time.Millisecond), nil
}

// serve reserves a runner for a job in the first pool that has room. Where none has, the job waits: an instance that
// goes wakes it.
func (e *Engine) serve(ctx context.Context, entity model.Entity, need need) error {
	cursor := 0
	e.entities.with(entity.ID, func(s *entityState) {
		cursor = s.cursor
	})
	for _, pool := range order(entity.Balancer, need.pools, cursor) {
		made, err := e.reserve(ctx, pool, func(pool model.Pool, rows []model.Instance) int {
			if !pool.Enabled || time.Now().Before(rest(rows, e.limits.CreateAttempts)) {
				return 0
			}
			return 1
		}, need.job.WorkflowJobID)
		if err != nil {
			return err
		}
		if len(made) == 0 {
			continue
		}
		e.log.Info("making a runner for a job", "job", need.job.WorkflowJobID, "pool", pool.ID, "instance", made[0].Name)
		e.entities.with(entity.ID, func(s *entityState) { s.cursor++ })
		return e.lockJob(ctx, need.job, entity.ID)
	}
	return nil
}

// lockJob notes on a job that its entity makes a runner for it. What counts is the instance that was made for it; the
// lock is what users see.
func (e *Engine) lockJob(ctx context.Context, job model.Job, by model.EntityID) error {
	if job.LockedBy == by {
		return nil
	}
	_, err := e.store.UpdateJob(ctx, job.ID, func(job *model.Job) error {
		if job.Status == model.JobQueued {
			job.LockedBy = by
		}
		return nil
	})
	if err != nil && !model.IsNotFound(err) {
		return fmt.Errorf("locking a job: %w", err)
	}
	return nil
}
