package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// sweep compares the runners at the forge with the rows of an entity and cleans up what only one side knows. A runner
// or row that cannot be dealt with is logged and passed over.
func (e *Engine) sweep(ctx context.Context, entity model.Entity) error {
	controller, err := e.store.Controller(ctx)
	if err != nil {
		return fmt.Errorf("reading the controller: %w", err)
	}
	forge, err := e.forge(ctx, entity)
	if err != nil {
		return fmt.Errorf("making a client of the forge: %w", err)
	}
	// The runners are read before the rows: a runner's row is older than the runner, so none of them is taken for lost.
	runners, err := forge.Runners(ctx)
	if err != nil {
		return err
	}
	rows, err := e.store.InstancesOfEntity(ctx, entity.ID)
	if err != nil {
		return fmt.Errorf("listing the instances of an entity: %w", err)
	}
	pools, err := e.store.PoolsOfEntity(ctx, entity.ID)
	if err != nil {
		return fmt.Errorf("listing the pools of an entity: %w", err)
	}
	timeouts := map[model.PoolID]time.Duration{}
	for _, p := range pools {
		timeouts[p.ID] = p.BootstrapTimeout
	}
	var found finding
	e.entities.with(entity.ID, func(s *entityState) {
		found = s.suspects.compare(time.Now(), controller.ID, runners, rows, timeouts)
	})
	for _, row := range rows {
		if runner, ok := found.known[row.ID]; ok {
			e.learn(ctx, row, runner)
		}
	}
	for _, row := range found.rows {
		if err := e.reap(ctx, forge, row); err != nil && !stopping(ctx) {
			e.log.Warn("an instance whose runner is lost was not removed", "instance", row.Name, "error", err)
		}
	}
	for _, runner := range found.runners {
		if err := e.reapRunner(ctx, forge, runner); err != nil && !stopping(ctx) {
			e.log.Warn("a runner without an instance was not removed at the forge", "runner", runner.Name, "error", err)
		}
	}
	return ctx.Err()
}

// learn notes what the forge knows of a runner and the row does not: its id, and that it runs a job although no hook
// said so.
func (e *Engine) learn(ctx context.Context, row model.Instance, runner Runner) {
	busy := func(row model.Instance) bool {
		return runner.Busy && instance.CheckRunner(instance.Forge, row.RunnerStatus, model.RunnerActive) == nil
	}
	if (row.AgentID != 0 || runner.ID == 0) && (!busy(row) || row.RunnerStatus == model.RunnerActive) {
		return
	}
	_, err := e.store.UpdateInstance(ctx, row.ID, func(row *model.Instance) error {
		if row.AgentID == 0 {
			row.AgentID = runner.ID
		}
		if busy(*row) {
			row.RunnerStatus = model.RunnerActive
		}
		return nil
	})
	if err != nil && !model.IsNotFound(err) && !stopping(ctx) {
		e.log.Warn("what the forge says of a runner was not stored", "instance", row.Name, "error", err)
	}
}

// reap removes a row whose runner is lost, after the forge has confirmed it about this one runner.
func (e *Engine) reap(ctx context.Context, forge Forge, row model.Instance) error {
	if row.AgentID != 0 {
		runner, err := forge.Runner(ctx, row.AgentID)
		switch {
		case isForgeError(err) && forgeKind(err) == ForgeNotFound:
		case err != nil:
			return err
		case runner.Online || runner.Busy:
			return nil
		}
	}
	err := e.retire(ctx, row, func(current model.Instance) bool {
		return current.Status == row.Status && current.RunnerStatus == row.RunnerStatus
	})
	if err == nil {
		e.log.Info("removing an instance whose runner is lost or never came", "instance", row.Name, "status", row.Status, "runner_status", row.RunnerStatus)
	}
	return err
}

// reapRunner removes a runner of ours that has no row, after the forge has confirmed that it is offline.
func (e *Engine) reapRunner(ctx context.Context, forge Forge, runner Runner) error {
	_, err := e.store.InstanceByName(ctx, runner.Name)
	if err == nil {
		return nil
	}
	if !model.IsNotFound(err) {
		return fmt.Errorf("reading an instance: %w", err)
	}
	current, err := forge.Runner(ctx, runner.ID)
	if isForgeError(err) && forgeKind(err) == ForgeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if current.Online || current.Busy {
		return nil
	}
	e.log.Info("removing a runner at the forge that has no instance", "runner", runner.Name)
	return forge.RemoveRunner(ctx, runner.ID)
}
