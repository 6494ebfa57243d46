package pool

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/entity"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// Options configure the controller.
type Options struct {
	// Concurrent is how many Pools are worked on at once.
	Concurrent int
	// Namespaces are those that are watched; none means all.
	Namespaces []string
	// MinIdleAge is how long a surplus idle runner is kept.
	MinIdleAge time.Duration
	// Admission says that a Pool with the spec of another one is refused, so that only a race lets two through.
	Admission bool
}

// shared is what the passes of all Pools have in common.
type shared struct {
	claims     *claims
	races      *races
	asked      asked
	namespaces []string
	minIdleAge time.Duration
	admission  bool
	byID       refs.Reference[*v1beta1.Pool]
	byAdoption refs.Reference[*v1beta1.Pool]
	bySpec     refs.Reference[*v1beta1.Pool]
}

func pools(field string, names func(*v1beta1.Pool) []string) refs.Reference[*v1beta1.Pool] {
	return refs.Reference[*v1beta1.Pool]{
		Field: field, Names: names, New: func() *v1beta1.Pool { return &v1beta1.Pool{} }, NewList: func() client.ObjectList { return &v1beta1.PoolList{} },
		Items: func(list client.ObjectList) []*v1beta1.Pool { return refs.Pointers(list.(*v1beta1.PoolList).Items) },
	}
}

// IDField is the index of Pools by the id of their GARM pool.
const IDField = "status.id"

// Setup adds the controller to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, session *remote.Session, opts Options) error {
	byID := pools(IDField, func(p *v1beta1.Pool) []string { return []string{p.Status.ID} })
	byImage := pools(poolspec.ImageField, func(p *v1beta1.Pool) []string { return []string{p.Spec.ImageName} })
	byScope := pools(entity.PoolsOfScope, func(p *v1beta1.Pool) []string {
		return []string{entity.ScopeKey(p.Spec.GitHubScopeRef.Kind, p.Spec.GitHubScopeRef.Name)}
	})
	byAdoption := pools("metadata.annotations.adopt", func(p *v1beta1.Pool) []string {
		return []string{p.Annotations[v1beta1.AnnotationAdoptPoolID]}
	})
	bySpec := pools(poolspec.Field, func(p *v1beta1.Pool) []string { return []string{poolspec.Key(p)} })
	for _, r := range []refs.Reference[*v1beta1.Pool]{byID, byImage, byScope, byAdoption, bySpec} {
		if err := r.Index(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
	}
	c := mgr.GetClient()
	all := &shared{
		claims: newClaims(), races: newRaces(), namespaces: opts.Namespaces, minIdleAge: opts.MinIdleAge, admission: opts.Admission,
		byID: byID, byAdoption: byAdoption, bySpec: bySpec,
	}
	engine := mirror.New(mirror.Kind[*v1beta1.Pool, garm.Pool]{
		Name: v1beta1.KindPool, Finalizer: v1beta1.FinalizerPool, New: func() *v1beta1.Pool { return &v1beta1.Pool{} },
		Begin: func(p *mirror.Pass[*v1beta1.Pool]) mirror.Actuator[garm.Pool] { return &actuator{shared: all, pass: p} },
	}, mirror.Deps{Client: c, Live: mgr.GetAPIReader(), Session: session}, mirror.Recorder(mgr, "pool-controller"))

	b := ctrl.NewControllerManagedBy(mgr).
		Named("pool").
		For(&v1beta1.Pool{}, builder.WithPredicates(mirror.Own())).
		Watches(&v1beta1.Pool{}, all.siblings(c)).
		Watches(&v1beta1.Image{}, byImage.Handler(c), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	for kind, obj := range map[string]client.Object{
		v1beta1.KindEnterprise: &v1beta1.Enterprise{}, v1beta1.KindOrganization: &v1beta1.Organization{}, v1beta1.KindRepository: &v1beta1.Repository{},
	} {
		b = b.Watches(obj, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return byScope.Requests(ctx, c, o.GetNamespace(), entity.ScopeKey(kind, o.GetName()))
		}), builder.WithPredicates(scopeChanged()))
	}
	return b.
		WatchesRawSource(session.Source(func(ctx context.Context, n remote.Notice) []reconcile.Request {
			switch {
			case n.Resync() && n.Kind == remote.KindInstance:
				return nil
			case n.Resync(), n.Kind == remote.KindProvider:
				return byID.All(ctx, c)
			case n.Kind == remote.KindInstance:
				return byID.Requests(ctx, c, "", n.Parent)
			default:
				return append(byID.Requests(ctx, c, "", n.ID), byAdoption.Requests(ctx, c, "", n.ID)...)
			}
		}, remote.KindSession, remote.KindPool, remote.KindInstance, remote.KindProvider)).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(opts.Concurrent, 1), RateLimiter: mirror.RateLimiter()}).
		Complete(engine)
}

// scopeChanged lets through what Pools look at: the id, whether the pool manager runs, and whether deletions use force.
func scopeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(v1beta1.Conditioned)
		after, ok2 := e.ObjectNew.(v1beta1.Conditioned)
		return ok && ok2 && (scopeID(before) != scopeID(after) ||
			managerStatus(before) != managerStatus(after) || mirror.Forced(before) != mirror.Forced(after))
	}}
}

func scopeID(obj v1beta1.Conditioned) [2]string {
	switch o := obj.(type) {
	case *v1beta1.Enterprise:
		return [2]string{o.Status.ID, o.Status.ControllerID}
	case *v1beta1.Organization:
		return [2]string{o.Status.ID, o.Status.ControllerID}
	case *v1beta1.Repository:
		return [2]string{o.Status.ID, o.Status.ControllerID}
	}
	return [2]string{}
}

func managerStatus(obj v1beta1.Conditioned) string {
	if c := status.Find(obj, v1beta1.ConditionPoolManager); c != nil {
		return string(c.Status)
	}
	return ""
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
