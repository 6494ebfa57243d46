package pool

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// siblings wakes the Pools that had to stand back for one that goes, or that changes into something else.
func (s *shared) siblings(c client.Reader) handler.EventHandler {
	equal := func(ctx context.Context, p *v1beta1.Pool, q queue) {
		if s.admission {
			add(q, s.bySpec.Requests(ctx, c, p.Namespace, poolspec.Key(p)))
		}
	}
	gone := func(ctx context.Context, p *v1beta1.Pool, q queue) {
		s.claims.forget(p.UID)
		s.races.forget(p.UID)
		add(q, s.byID.Requests(ctx, c, "", p.Status.ID))
		add(q, s.byAdoption.Requests(ctx, c, "", p.Status.ID))
		equal(ctx, p, q)
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, ok := e.ObjectOld.(*v1beta1.Pool)
			after, ok2 := e.ObjectNew.(*v1beta1.Pool)
			switch {
			case !ok || !ok2:
			case refs.Left(after) && !refs.Left(before):
				gone(ctx, after, q)
			case before.Generation != after.Generation: // deletion is a generation of its own, too
				equal(ctx, before, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			if pool, ok := e.Object.(*v1beta1.Pool); ok {
				gone(ctx, pool, q)
			}
		},
	}
}

func add(q queue, requests []reconcile.Request) {
	for _, r := range requests {
		q.Add(r)
	}
}
