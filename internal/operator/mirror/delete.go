package mirror

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// delete removes the remote object, step by step, and lets the resource go when the server says that it is gone.
func (e *Engine[O, R]) delete(ctx context.Context, p *Pass[O], a Actuator[R]) Outcome {
	if owned, ok := a.(Owned); ok {
		err := owned.Owner(ctx)
		if o, ok := asOutcome(err); ok && o.Class == Terminal {
			return e.release(ctx, p, "another resource owns the object at the GARM server: "+o.Message)
		} else if err != nil {
			return Classify(Observing, err)
		}
	}
	r, err := a.Observe(ctx)
	if err != nil {
		return Classify(Observing, err)
	}
	if r == nil {
		return e.confirm(ctx, p, a)
	}
	if retained, ok := a.(Retained); ok && retained.Retain() {
		return e.release(ctx, p, "the GARM server keeps its built-in object")
	}
	if c := status.Find(p.Object, v1beta1.ConditionReady); c == nil || !deletionReasons[c.Reason] {
		p.Event(corev1.EventTypeNormal, EventDeleting, "deleting at the GARM server")
	}
	if guarded, ok := a.(Guarded); ok {
		if err := guarded.Guard(ctx); err != nil {
			return e.waiting(a, r, Classify(Deleting, err))
		}
	}
	if drained, ok := a.(Drained[R]); ok {
		if err := drained.Drain(ctx, r); err != nil {
			return e.waiting(a, r, Classify(Deleting, err))
		}
	}
	if err := a.Delete(ctx, r); err != nil && !garm.IsNotFound(err) {
		return e.waiting(a, r, Classify(Deleting, err))
	}
	p.Log.Info("deleted at GARM", "kind", e.kind.Name)
	return e.confirm(ctx, p, a)
}

var deletionReasons = map[string]bool{
	v1beta1.ReasonDeleting: true, v1beta1.ReasonDeletionFailed: true, v1beta1.ReasonInUse: true, v1beta1.ReasonWaitingForRunners: true,
}

// waiting shows how far the deletion has come.
func (e *Engine[O, R]) waiting(a Actuator[R], r *R, o Outcome) Outcome {
	a.Project(r)
	return o
}

// confirm lets the resource go once the server itself has said that there is no object.
func (e *Engine[O, R]) confirm(ctx context.Context, p *Pass[O], a Actuator[R]) Outcome {
	gone, err := a.Gone(ctx)
	if err != nil {
		return Classify(Deleting, err)
	}
	if !gone {
		return Outcome{Class: Waiting, Reason: v1beta1.ReasonDeleting, Message: "the GARM server still has the object", After: refusedRetry}
	}
	return e.release(ctx, p, "")
}

// release takes the finalizer away. Why is told where the remote object stays.
func (e *Engine[O, R]) release(ctx context.Context, p *Pass[O], why string) Outcome {
	if why != "" {
		p.Event(corev1.EventTypeNormal, EventDeleting, "released without deleting anything at the GARM server: %s", why)
	}
	err := p.writeMetadata(ctx, func(obj O) { controllerutil.RemoveFinalizer(obj, e.kind.Finalizer) }, client.MergeFromWithOptimisticLock{})
	if err != nil {
		return Classify(Deleting, err)
	}
	p.freed = true
	e.stuck.forget(client.ObjectKeyFromObject(p.Object))
	return Outcome{}
}
