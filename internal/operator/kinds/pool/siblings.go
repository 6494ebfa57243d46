package pool

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
)

// siblings wakes the Pools that had to stand back for one that goes, or that changes into something else.
func (s *shared) siblings(c client.Reader) handler.EventHandler {
	equal := func(ctx context.Context, p *v1beta1.Pool, q queue) {
		if s.admission {
			add(q, s.bySpec.Requests(ctx, c, p.Namespace, poolspec.Key(p)))
		}
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, ok := e.ObjectOld.(*v1beta1.Pool)
			after, ok2 := e.ObjectNew.(*v1beta1.Pool)
			if !ok || !ok2 || before.Generation == after.Generation { // deletion is a generation of its own, too
				return
			}
			equal(ctx, before, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			pool, ok := e.Object.(*v1beta1.Pool)
			if !ok {
				return
			}
			s.claims.forget(pool.UID)
			s.races.forget(pool.UID)
			add(q, s.byID.Requests(ctx, c, "", pool.Status.ID))
			equal(ctx, pool, q)
		},
	}
}

func add(q queue, requests []reconcile.Request) {
	for _, r := range requests {
		q.Add(r)
	}
}
