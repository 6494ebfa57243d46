package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// errChanged says that a row is no longer in the state that a decision was based on.
var errChanged = errors.New("the instance has changed meanwhile")

// DeleteInstance asks for the removal of an instance on behalf of a user. The runner is removed at the forge first: one
// that runs a job, and a forge that refuses, are errors of kind model.KindConflict and change nothing. bypassUnauthorized
// goes on where the forge refuses the credentials. force goes on whatever the forge says except that the runner is busy,
// and later removes the row even if the provider fails. A status that allows no deletion is an error of kind
// model.KindInvalid.
func (e *Engine) DeleteInstance(ctx context.Context, id model.InstanceID, force, bypassUnauthorized bool) error {
	row, err := e.store.Instance(ctx, id)
	if err != nil {
		return err
	}
	to := model.InstancePendingDelete
	if force || row.Status == model.InstancePendingForceDelete {
		to = model.InstancePendingForceDelete
	}
	if err := deletable(row, to); err != nil {
		return err
	}
	if !instance.Leaving(row.Status) {
		if err := e.deregister(ctx, row); err != nil {
			if err := refusal(row, err, force, bypassUnauthorized); err != nil {
				return err
			}
			e.log.Warn("removing an instance although its runner was not removed at the forge", "instance", row.Name, "error", err)
		}
	}
	_, err = e.store.UpdateInstance(ctx, id, func(row *model.Instance) error {
		if err := deletable(*row, to); err != nil {
			return err
		}
		if row.Status == to {
			return nil
		}
		row.RetryAt, row.Failures = time.Time{}, 0
		return instance.SetStatus(row, instance.User, to)
	})
	if err == nil {
		e.log.Info("removing an instance on request", "instance", row.Name, "force", force)
	}
	return err
}

func deletable(row model.Instance, to model.InstanceStatus) error {
	if !instance.Deletable(row.Status) {
		return model.Invalid("runner %s is in status %s and cannot be removed now; it has to be in one of running, stopped, unknown, error, pending_delete, pending_force_delete", row.Name, row.Status)
	}
	return instance.CheckStatus(instance.User, row.Status, to)
}

// refusal says what a user is told of a runner that the forge did not remove, nil where that is not to matter.
func refusal(row model.Instance, err error, force, bypassUnauthorized bool) error {
	kind := forgeKind(err)
	switch {
	case !isForgeError(err):
		return err
	case kind == ForgeBusy:
		return &model.Error{Kind: model.KindConflict, Text: fmt.Sprintf("runner %s runs a job and is not removed", row.Name), Err: err}
	case force, kind == ForgeUnauthorized && bypassUnauthorized:
		return nil
	}
	return &model.Error{Kind: model.KindConflict, Text: fmt.Sprintf("runner %s was not removed at the forge, so it is kept", row.Name), Err: err}
}

// retire removes a runner at the forge and then asks for the removal of its machine. still is asked again about the row
// as it is after the forge's answer.
func (e *Engine) retire(ctx context.Context, row model.Instance, still func(model.Instance) bool) error {
	if err := e.deregister(ctx, row); err != nil {
		return err
	}
	_, err := e.store.UpdateInstance(ctx, row.ID, func(row *model.Instance) error {
		if !still(*row) {
			return errChanged
		}
		row.RetryAt, row.Failures = time.Time{}, 0
		return instance.SetStatus(row, instance.Engine, model.InstancePendingDelete)
	})
	return err
}

// deregister makes sure that the forge has no runner of this row, as far as the row may have one.
func (e *Engine) deregister(ctx context.Context, row model.Instance) error {
	neverRegistered := row.AgentID == 0 && (row.JIT || row.RunnerStatus == model.RunnerPending)
	if neverRegistered || row.RunnerStatus == model.RunnerTerminated {
		return nil
	}
	entity, err := e.store.Entity(ctx, row.EntityID)
	if err != nil {
		return fmt.Errorf("reading the entity of an instance: %w", err)
	}
	forge, err := e.forge(ctx, entity)
	if err != nil {
		return fmt.Errorf("making a client of the forge: %w", err)
	}
	id := row.AgentID
	if id == 0 {
		if id, err = e.findRunner(ctx, forge, row.Name); err != nil || id == 0 {
			return err
		}
	}
	return forge.RemoveRunner(ctx, id)
}

// findRunner returns the forge's id of our runner of that name, 0 where there is none.
func (e *Engine) findRunner(ctx context.Context, forge Forge, name string) (int64, error) {
	controller, err := e.store.Controller(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the controller: %w", err)
	}
	runners, err := forge.Runners(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range runners {
		if strings.EqualFold(r.Name, name) && isOurs(controller.ID, r) {
			return r.ID, nil
		}
	}
	return 0, nil
}

func isForgeError(err error) bool {
	var failed *ForgeError
	return errors.As(err, &failed)
}
