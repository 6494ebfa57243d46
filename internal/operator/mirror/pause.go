package mirror

import (
	"context"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// paused leaves the remote object alone; a resource that is being deleted is let go.
func (e *Engine[O, R]) paused(ctx context.Context, p *Pass[O], deleting bool) Outcome {
	if deleting {
		return e.release(ctx, p, "the resource is paused")
	}
	p.Conditions.True(v1beta1.ConditionPaused, v1beta1.ReasonPaused, "the pause annotation is present; nothing is compared or changed")
	p.Conditions.Apply(p.Object, now())
	if err := e.patchStatus(ctx, p); err != nil {
		return Classify(Resolving, err)
	}
	return Outcome{Silent: true}
}
