package fleet

import (
	"context"
	"fmt"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// register gets a just-in-time configuration for a row. Where the forge has none to give, the row is returned as it is,
// and the runner will register by a token; the history of the instance says so.
func (e *Engine) register(ctx context.Context, forge Forge, row model.Instance, labels []string) (model.Instance, error) {
	runner, config, err := forge.JITConfig(ctx, row.Name, row.RunnerGroup, labels)
	if isForgeError(err) && forgeKind(err) == ForgeConflict {
		if err := e.dropNamesake(ctx, forge, row); err != nil {
			return row, err
		}
		runner, config, err = forge.JITConfig(ctx, row.Name, row.RunnerGroup, labels)
	}
	if isForgeError(err) && forgeKind(err) == ForgeNotFound {
		e.log.Warn("the forge offers no just-in-time configuration; the runner will register by a token", "instance", row.Name, "error", err)
		e.tell(ctx, row, model.LevelWarning, "the forge offers no just-in-time configuration; the runner registers by a registration token")
		return row, nil
	}
	if err != nil {
		return row, err
	}
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeGrace)
	defer cancel()
	registered, err := e.store.SetJITConfig(store, row.ID, runner.ID, config)
	if err == nil {
		return registered, nil
	}
	// Whatever it was that kept the store from answering has used up its time.
	undo, cancelUndo := context.WithTimeout(context.WithoutCancel(ctx), storeGrace)
	defer cancelUndo()
	if removal := forge.RemoveRunner(undo, runner.ID); removal != nil {
		e.log.Warn("a runner that could not be noted was not removed at the forge", "instance", row.Name, "error", removal)
	}
	return row, fmt.Errorf("storing the just-in-time configuration: %w", err)
}

// dropNamesake removes a runner of the same name, which an earlier try that ended in a crash has left at the forge.
func (e *Engine) dropNamesake(ctx context.Context, forge Forge, row model.Instance) error {
	id, err := e.findRunner(ctx, forge, row.Name)
	if err != nil {
		return err
	}
	if id == 0 {
		return fmt.Errorf("the name %s is taken at the forge by a runner that is not ours", row.Name)
	}
	return forge.RemoveRunner(ctx, id)
}
