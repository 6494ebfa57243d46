package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// remove has the machine of a row removed and then the row. The runner was removed at the forge before the row came to
// this state, or its job is done.
func (e *Engine) remove(ctx context.Context, pool model.Pool, row model.Instance) error {
	forced := row.Status == model.InstancePendingForceDelete
	asked := row.Status
	row, err := e.update(ctx, row, func(row *model.Instance) error {
		row.DeletingFrom = asked
		return instance.SetStatus(row, instance.Engine, model.InstanceDeleting)
	})
	if err != nil {
		return err
	}
	err = e.deleteMachine(ctx, pool, row)
	if stopping(ctx) {
		return nil
	}
	switch {
	case err != nil && !forced:
		return e.removeFailed(ctx, row, faultOf(err))
	case err != nil:
		e.tellLeft(ctx, row, err)
	}
	if err := e.store.DeleteInstance(ctx, row.ID); err != nil {
		return fmt.Errorf("deleting an instance: %w", err)
	}
	e.log.Info("an instance is gone", "instance", row.Name, "provider", row.ProviderName)
	return nil
}

// tellLeft tells the entity's users of a machine that its provider did not remove and that nobody will ask for again, since
// the row goes all the same.
func (e *Engine) tellLeft(ctx context.Context, row model.Instance, cause error) {
	machine := machineID(row)
	e.log.Warn("forgetting an instance although its machine was not removed, as asked", "instance", row.Name, "provider", row.ProviderName, "machine", machine, "error", cause)
	text := fmt.Sprintf("runner %s was removed by force, but the provider %s has not removed its machine %s, which may still run; remove it there: %s",
		row.Name, row.ProviderName, machine, faultOf(cause))
	if err := e.store.AddEntityEvent(ctx, row.EntityID, model.LevelError, text); err != nil {
		e.log.Warn("an event of an entity was not stored", "entity", row.EntityID, "error", err)
	}
}

func (e *Engine) removeFailed(ctx context.Context, row model.Instance, fault string) error {
	wait := jitter(stepDelay(row.Failures + 1))
	e.log.Warn("a machine was not removed", "instance", row.Name, "provider", row.ProviderName, "fault", fault, "retry_after", wait)
	_, err := e.update(ctx, row, func(row *model.Instance) error {
		row.ProviderFault = []byte(fault)
		row.Failures++
		row.RetryAt = time.Now().Add(wait)
		return instance.SetStatus(row, instance.Engine, askedBy(*row))
	})
	return err
}

// resolveDeleting repeats a deletion that was under way when the engine stopped: deletions can be repeated.
func (e *Engine) resolveDeleting(ctx context.Context, row model.Instance) error {
	_, err := e.update(ctx, row, func(row *model.Instance) error {
		return instance.SetStatus(row, instance.Engine, askedBy(*row))
	})
	return err
}

func askedBy(row model.Instance) model.InstanceStatus {
	if row.DeletingFrom == model.InstancePendingForceDelete {
		return model.InstancePendingForceDelete
	}
	return model.InstancePendingDelete
}
