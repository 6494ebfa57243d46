package inventory

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// component is the source of the events on Runner objects.
const component = "runner-controller"

// Options configure the reverse mirror.
type Options struct {
	// Session keeps the GARM server.
	Session *remote.Session
	// Mirror shows runners as Runner objects. Without it those that are left, by the known operator too, are cleaned up
	// and nothing is asked or changed at GARM.
	Mirror bool
	// Concurrency is how many instances are worked on at a time. At least 1.
	Concurrency int
}

// SetupWithManager adds the controller, which runs on the leader only. Ctx is for the set-up.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, opts Options) error {
	if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	r := &reconciler{client: mgr.GetClient(), session: opts.Session, shows: opts.Mirror, events: mirror.Recorder(mgr, component)}
	b := ctrl.NewControllerManagedBy(mgr).
		Named("runner").
		Watches(&v1beta1.Runner{}, handler.EnqueueRequestsFromMapFunc(r.ofRunner)).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(opts.Concurrency, 1), RateLimiter: mirror.RateLimiter()})
	if opts.Mirror {
		b = b.Watches(&v1beta1.Pool{}, handler.EnqueueRequestsFromMapFunc(r.ofPool), builder.WithPredicates(claims())).
			WatchesRawSource(r.notices())
	}
	counted := reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		result, err := r.Reconcile(ctx, req)
		if err != nil {
			opts.Session.Metrics().Failed(v1beta1.KindRunner, v1beta1.ReasonReconcileError)
		}
		return result, err
	})
	if err := b.Complete(counted); err != nil {
		return fmt.Errorf("set up the controller of runners: %w", err)
	}
	return nil
}

// claims lets through what changes which GARM pool a Pool stands for, and whether it still does.
func claims() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1beta1.Pool)
		after, same := e.ObjectNew.(*v1beta1.Pool)
		return ok && same && (before.Status.ID != after.Status.ID || before.Status.ControllerID != after.Status.ControllerID ||
			mirror.Released(before) != mirror.Released(after))
	}}
}

func (r *reconciler) ofRunner(_ context.Context, obj client.Object) []reconcile.Request {
	runner, ok := obj.(*v1beta1.Runner)
	if !ok {
		return nil
	}
	return []reconcile.Request{ofKey(r.keyOf(runner))}
}

// ofPool finds the instances of a Pool, and those whose objects say that they are its.
func (r *reconciler) ofPool(ctx context.Context, obj client.Object) []reconcile.Request {
	pool, ok := obj.(*v1beta1.Pool)
	if !ok {
		return nil
	}
	requests := r.ofRunners(ctx, client.InNamespace(pool.Namespace), client.MatchingFields{fieldPool: pool.Name})
	if view := r.session.View(); view != nil && pool.Status.ID != "" {
		instances, _ := view.InstancesOfPool(pool.Status.ID)
		for _, i := range instances {
			requests = append(requests, ofKey(remote.InstanceKey(i.Name)))
		}
	}
	return requests
}

func (r *reconciler) ofRunners(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	list := &v1beta1.RunnerList{}
	if err := r.client.List(ctx, list, options...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list Runners")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, ofKey(r.keyOf(&list.Items[i])))
	}
	return requests
}

// ofNotice finds the instances that a change at the server is about.
func (r *reconciler) ofNotice(ctx context.Context, n remote.Notice) []reconcile.Request {
	if !n.Resync() {
		return []reconcile.Request{ofKey(n.NaturalKey)}
	}
	return append(r.ofRunners(ctx), r.ofView()...)
}

func (r *reconciler) ofView() []reconcile.Request {
	view := r.session.View()
	if view == nil {
		return nil
	}
	instances, _ := view.Instances()
	requests := make([]reconcile.Request, 0, len(instances))
	for _, i := range instances {
		requests = append(requests, ofKey(remote.InstanceKey(i.Name)))
	}
	return requests
}

// notices wakes instances when the view changes, all of them at the start: what was in the view before is not told.
func (r *reconciler) notices() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		sub := r.session.Subscribe(remote.KindInstance, remote.KindSession)
		go func() {
			defer sub.Close()
			for _, req := range r.ofView() {
				queue.Add(req)
			}
			for {
				notices, err := sub.Next(ctx)
				if err != nil {
					return
				}
				for _, n := range notices {
					for _, req := range r.ofNotice(ctx, n) {
						queue.Add(req)
					}
				}
			}
		}()
		return nil
	})
}

func ofKey(key string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: key}}
}
