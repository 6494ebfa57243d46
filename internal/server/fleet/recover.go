package fleet

import (
	"context"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// resolveCreating finds out what became of a create that was under way when the engine stopped: a machine that runs is
// adopted, everything else is a failed try whose remains, such as half a machine, are cleaned up before the next.
func (e *Engine) resolveCreating(ctx context.Context, pool model.Pool, row model.Instance) error {
	if provider, ok := e.providers.Provider(row.ProviderName); ok {
		machines, err := provider.List(ctx, pool)
		if stopping(ctx) {
			return nil
		}
		if err != nil {
			e.log.Warn("the machines of a pool could not be listed", "pool", pool.ID, "error", err)
		}
		for _, m := range machines {
			if strings.EqualFold(m.Name, row.Name) && m.Status == model.InstanceRunning {
				e.log.Info("adopting a machine whose create was interrupted", "instance", row.Name, "provider_id", m.ProviderID)
				return e.created(ctx, row, m)
			}
		}
	}
	return e.createFailed(ctx, row, "the server stopped while the machine was being made", "", true)
}

// recover cleans up after a failed create and queues the next try. Only a clean-up that the provider has confirmed allows
// one, so that there are never two machines for a row. A disabled pool leaves its failed rows as they are, for people to
// see; the sweep removes them when their bootstrap time is over.
func (e *Engine) recover(ctx context.Context, pool model.Pool, row model.Instance) (time.Duration, error) {
	if row.RunnerStatus == model.RunnerTerminated {
		return 0, e.setStatus(ctx, row, model.InstancePendingDelete)
	}
	if !pool.Enabled || row.RetryAt.IsZero() || row.RunnerStatus == model.RunnerIdle || row.RunnerStatus == model.RunnerActive {
		return 0, nil
	}
	if row.AgentID != 0 && !e.Health(row.EntityID).Running {
		return missingWait, nil
	}
	// The machine may exist, and its runner may have a job that nobody has told us of.
	err := e.deregister(ctx, row)
	if isForgeError(err) && forgeKind(err) == ForgeBusy {
		e.log.Info("keeping the machine of a failed create, since its runner has a job", "instance", row.Name)
		_, err := e.update(ctx, row, func(row *model.Instance) error { return instance.SetRunner(row, instance.Forge, model.RunnerActive) })
		return 0, err
	}
	if err == nil {
		err = e.deleteMachine(ctx, pool, row)
	}
	if err != nil {
		return e.cleanUpFailed(ctx, row, err)
	}
	_, err = e.update(ctx, row, func(row *model.Instance) error {
		row.ProviderID, row.Addresses, row.Failures = "", nil, 0
		row.RetryAt = time.Time{}
		// The registration went with the machine.
		row.JIT, row.AgentID, row.TokenFetched = false, 0, false
		if row.CreateAttempt >= e.limits.CreateAttempts {
			return nil
		}
		if err := instance.SetRunner(row, instance.Engine, model.RunnerPending); err != nil {
			return err
		}
		row.CreateAttempt++
		return instance.SetStatus(row, instance.Engine, model.InstancePendingCreate)
	})
	return 0, err
}

func (e *Engine) cleanUpFailed(ctx context.Context, row model.Instance, cause error) (time.Duration, error) {
	if stopping(ctx) {
		return 0, nil
	}
	wait := jitter(stepDelay(row.Failures + 1))
	e.log.Warn("cleaning up after a failed create failed", "instance", row.Name, "error", cause, "retry_after", wait)
	_, err := e.update(ctx, row, func(row *model.Instance) error {
		row.Failures++
		row.RetryAt = time.Now().Add(wait)
		return nil
	})
	return wait, err
}
