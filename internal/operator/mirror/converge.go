package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// converge brings the remote object to what the resource wants.
func (e *Engine[O, R]) converge(ctx context.Context, p *Pass[O], a Actuator[R]) Outcome {
	if err := a.Resolve(ctx); err != nil {
		return Classify(Resolving, err)
	}
	if owned, ok := a.(Owned); ok {
		if err := owned.Owner(ctx); err != nil {
			return Classify(Resolving, err)
		}
	}
	r, err := a.Observe(ctx)
	if err == nil && r == nil {
		r, err = e.lost(ctx, a)
	}
	if err != nil {
		return Classify(Observing, err)
	}
	if r == nil {
		return e.create(ctx, p, a)
	}
	r, outcome := e.update(ctx, p, a, r)
	if r == nil {
		return outcome
	}
	return e.settle(ctx, a, r, outcome)
}

// lost looks again for an object that has an id but is not in the view: only the server can say that it is gone.
func (e *Engine[O, R]) lost(ctx context.Context, a Actuator[R]) (*R, error) {
	if a.Recorded() == "" {
		return nil, nil
	}
	gone, err := a.Gone(ctx)
	if err != nil {
		return nil, err
	}
	if gone {
		return nil, nil
	}
	r, err := a.Observe(ctx)
	if err == nil && r == nil {
		err = &Outcome{
			Class: Transient, Reason: v1beta1.ReasonReconcileError,
			Message: "the GARM server has an object with the recorded id " + a.Recorded() + ", but it is not what this resource stands for",
		}
	}
	return r, err
}

func (e *Engine[O, R]) create(ctx context.Context, p *Pass[O], a Actuator[R]) Outcome {
	r, err := a.Create(ctx)
	if err != nil {
		return Classify(Creating, err)
	}
	p.created = true
	p.Log.Info("created at GARM", "kind", e.kind.Name)
	p.Event(corev1.EventTypeNormal, EventInfo, "created at the GARM server")
	return e.settle(ctx, a, r, Outcome{})
}

// update sends what differs, once. What the server then still shows otherwise it cannot do, and is not sent again before
// something changes.
func (e *Engine[O, R]) update(ctx context.Context, p *Pass[O], a Actuator[R], r *R) (*R, Outcome) {
	if prepared, ok := a.(Prepared[R]); ok {
		full, err := prepared.Prepare(ctx, r)
		if err != nil {
			return nil, Classify(Observing, err)
		}
		r = full
	}
	fields := a.Diff(r)
	if len(fields) == 0 {
		e.stuck.forget(client.ObjectKeyFromObject(p.Object))
		return r, Outcome{}
	}
	inputs := ""
	if informed, ok := a.(Informed); ok {
		inputs = informed.Inputs()
	}
	if e.stuck.same(p.Object, inputs, fields) {
		return r, stuckOutcome(a, r, fields)
	}
	if status.IsReady(p.Object) {
		e.deps.Session.Metrics().Drifted(e.kind.Name, fields)
	}
	updated, err := a.Update(ctx, r, fields)
	if err != nil {
		if garm.IsNotFound(err) {
			// The object has gone, or something it refers to; the answer refreshes the view, and the next pass sees which.
			if _, err := a.Gone(ctx); err != nil {
				return nil, Classify(Observing, err)
			}
		}
		return nil, Classify(Updating, err)
	}
	p.Log.Info("updated at GARM", "kind", e.kind.Name, "fields", fields)
	p.Event(corev1.EventTypeNormal, EventUpdating, "updated %s at the GARM server", strings.Join(fields, ", "))
	if left := a.Diff(updated); len(left) > 0 && slices.Equal(left, intersect(left, fields)) {
		e.stuck.set(p.Object, inputs, left)
		return updated, stuckOutcome(a, updated, left)
	}
	return updated, Outcome{}
}

func stuckOutcome[R any](a Actuator[R], r *R, fields []string) Outcome {
	if lenient, ok := a.(Lenient[R]); ok && lenient.Bears(r, fields) {
		return Outcome{}
	}
	return Outcome{Class: Terminal, Reason: v1beta1.ReasonInvalidSpec, Message: fmt.Sprintf(
		"the GARM server accepted the update but did not apply %s; set a value that it can apply, or create the resource anew",
		strings.Join(fields, ", "))}
}

// settle projects the remote object into the status and gives it the care it needs.
func (e *Engine[O, R]) settle(ctx context.Context, a Actuator[R], r *R, outcome Outcome) Outcome {
	var err error
	if attended, ok := a.(Attended[R]); ok {
		err = attended.Attend(ctx, r)
	}
	a.Project(r)
	return Join(outcome, Classify(Updating, err))
}

func intersect(a, b []string) []string {
	var both []string
	for _, s := range a {
		if slices.Contains(b, s) {
			both = append(both, s)
		}
	}
	return both
}
