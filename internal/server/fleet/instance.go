package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// missingWait is how long to wait for something that an event tells of: a provider that is not configured, URLs that
// are not set, an entity that is not healthy.
const missingWait = 10 * time.Minute

// storeGrace bounds writing down what happened, or undoing it, whether or not the engine is told to stop in the middle of it. A disk
// that is slow for a while should not cost a machine.
const storeGrace = 10 * time.Second

// reconcileInstance takes one step in the life of an instance. The change that the step stores wakes it again.
func (e *Engine) reconcileInstance(ctx context.Context, l *lane, id model.InstanceID) (time.Duration, error) {
	row, err := e.store.Instance(ctx, id)
	if model.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading an instance: %w", err)
	}
	pool, err := e.store.Pool(ctx, row.PoolID)
	if model.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the pool of an instance: %w", err)
	}
	if wait := time.Until(row.RetryAt); wait > 0 && !unwanted(pool, row) {
		return wait, nil
	}
	wait, err := e.step(ctx, l, pool, row)
	if errors.Is(err, errChanged) || model.IsNotFound(err) || model.KindOf(err) == model.KindInvalid {
		// Somebody else changed the row between the decision and the write; that change wakes this instance.
		e.log.Debug("an instance changed while it was worked on", "instance", row.Name, "error", err)
		return 0, nil
	}
	return wait, err
}

// unwanted says that a row is given up at once, without a call of anybody: neither a runner nor a machine was made for it,
// and its pool is disabled.
func unwanted(pool model.Pool, row model.Instance) bool {
	return !pool.Enabled && row.Status == model.InstancePendingCreate && row.AgentID == 0
}

func (e *Engine) step(ctx context.Context, l *lane, pool model.Pool, row model.Instance) (time.Duration, error) {
	switch row.Status {
	case model.InstancePendingCreate:
		return e.create(ctx, l, pool, row)
	case model.InstanceCreating:
		// No create is under way here, since one worker has the key: the row is from before a crash.
		return 0, e.resolveCreating(ctx, pool, row)
	case model.InstanceError:
		return e.recover(ctx, pool, row)
	case model.InstancePendingDelete, model.InstancePendingForceDelete:
		return 0, e.remove(ctx, pool, row)
	case model.InstanceDeleting:
		return 0, e.resolveDeleting(ctx, row)
	case model.InstanceRunning, model.InstanceStopped, model.InstanceUnknown:
		if row.RunnerStatus == model.RunnerTerminated {
			return 0, e.setStatus(ctx, row, model.InstancePendingDelete)
		}
	}
	return 0, nil
}

// stopping says whether the engine was told to stop. What fails then says nothing, and all is looked at again at the next
// start.
func stopping(ctx context.Context) bool { return ctx.Err() != nil }

// setStatus moves a row on if it is still in the state that it had.
func (e *Engine) setStatus(ctx context.Context, row model.Instance, to model.InstanceStatus) error {
	_, err := e.update(ctx, row, func(row *model.Instance) error {
		row.RetryAt, row.Failures = time.Time{}, 0
		return instance.SetStatus(row, instance.Engine, to)
	})
	return err
}

// update changes a row if its status is still that of row.
func (e *Engine) update(ctx context.Context, row model.Instance, change func(*model.Instance) error) (model.Instance, error) {
	return e.store.UpdateInstance(ctx, row.ID, func(current *model.Instance) error {
		if current.Status != row.Status {
			return errChanged
		}
		return change(current)
	})
}

// tell adds a message to the history of an instance. It is for people: a failure to store it is only logged.
func (e *Engine) tell(ctx context.Context, row model.Instance, level model.EventLevel, text string) {
	err := e.store.AddInstanceMessage(ctx, row.ID, model.InstanceMessage{CreatedAt: time.Now(), Kind: "status", Level: level, Message: text})
	if err != nil && !model.IsNotFound(err) {
		e.log.Warn("a message of an instance was not stored", "instance", row.Name, "error", err)
	}
}

// stepFailed notes why a step failed, without leaving the state, and when it is tried again.
func (e *Engine) stepFailed(ctx context.Context, row model.Instance, fault string, wait time.Duration) (time.Duration, error) {
	if stopping(ctx) {
		return 0, nil
	}
	e.log.Warn("a step of an instance failed", "instance", row.Name, "status", row.Status, "error", fault, "retry_after", wait)
	_, err := e.update(ctx, row, func(row *model.Instance) error {
		row.ProviderFault = []byte(fault)
		row.Failures++
		row.RetryAt = time.Now().Add(wait)
		return nil
	})
	return wait, err
}

// machineID is what a provider is told of which machine is meant.
func machineID(row model.Instance) string {
	if row.ProviderID != "" {
		return row.ProviderID
	}
	return row.Name
}

// deleteMachine removes the machine of a row. A machine that does not exist is no error.
func (e *Engine) deleteMachine(ctx context.Context, pool model.Pool, row model.Instance) error {
	provider, ok := e.providers.Provider(row.ProviderName)
	if !ok {
		return fmt.Errorf("provider %q is not configured", row.ProviderName)
	}
	err := provider.Delete(ctx, pool, machineID(row))
	var failed *ProviderError
	if errors.As(err, &failed) && failed.Kind == ProviderNotFound {
		return nil
	}
	return err
}

// faultOf is what users are shown of a failed provider call.
func faultOf(err error) string {
	var failed *ProviderError
	if errors.As(err, &failed) && failed.Fault != "" {
		return failed.Fault
	}
	return err.Error()
}
