package service

import (
	"context"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// InstanceView is an instance with its history and the job that it runs, if any.
type InstanceView struct {
	Instance model.Instance
	Messages []model.InstanceMessage
	Job      *model.Job
}

// Instances returns all instances.
func (s *Service) Instances(ctx context.Context) ([]model.Instance, error) {
	return s.Store.Instances(ctx)
}

// InstancesOfPool returns the instances of a pool; outdatedOnly leaves out those of its newest generation. A missing
// pool has none.
func (s *Service) InstancesOfPool(ctx context.Context, id model.PoolID, outdatedOnly bool) ([]model.Instance, error) {
	rows, err := s.Store.InstancesOfPool(ctx, id)
	if err != nil || !outdatedOnly || len(rows) == 0 {
		return rows, err
	}
	pool, err := s.Store.Pool(ctx, id)
	if err != nil {
		return nil, err
	}
	var outdated []model.Instance
	for _, row := range rows {
		if row.Generation < pool.Generation {
			outdated = append(outdated, row)
		}
	}
	return outdated, nil
}

// InstancesOfEntity returns the instances of an entity.
func (s *Service) InstancesOfEntity(ctx context.Context, kind model.EntityKind, id model.EntityID) ([]model.Instance, error) {
	if _, err := s.Entity(ctx, kind, id); err != nil {
		return nil, err
	}
	return s.Store.InstancesOfEntity(ctx, id)
}

// Instance returns an instance by name or id.
func (s *Service) Instance(ctx context.Context, nameOrID string) (view InstanceView, err error) {
	if view.Instance, err = s.findInstance(ctx, nameOrID); err != nil {
		return view, err
	}
	if view.Messages, err = s.Store.InstanceMessages(ctx, view.Instance.ID); err != nil {
		return view, err
	}
	job, err := s.Store.JobOfInstance(ctx, view.Instance.ID)
	switch {
	case err == nil:
		view.Job = &job
	case !model.IsNotFound(err):
		return view, err
	}
	return view, nil
}

func (s *Service) findInstance(ctx context.Context, nameOrID string) (model.Instance, error) {
	instance, err := s.Store.InstanceByName(ctx, nameOrID)
	if model.IsNotFound(err) && uuid.Validate(nameOrID) == nil {
		return s.Store.Instance(ctx, model.InstanceID(nameOrID))
	}
	return instance, err
}

// DeleteInstance asks for the removal of an instance, which takes place later.
func (s *Service) DeleteInstance(ctx context.Context, nameOrID string, force, bypassUnauthorized bool) error {
	instance, err := s.findInstance(ctx, nameOrID)
	if err != nil {
		return err
	}
	return s.Engine.DeleteInstance(ctx, instance.ID, force, bypassUnauthorized)
}

// Jobs returns all jobs.
func (s *Service) Jobs(ctx context.Context) ([]model.Job, error) { return s.Store.Jobs(ctx) }
