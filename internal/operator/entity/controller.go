package entity

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Setup adds the controller of the kind to the manager.
func (a *Adapter[O, R]) Setup(ctx context.Context, mgr ctrl.Manager, session *remote.Session) error {
	rel := a.relations()
	for _, index := range []func(context.Context, client.FieldIndexer) error{rel.credentials.Index, rel.secret.Index, rel.key.Index, rel.id.Index} {
		if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
	}
	c := mgr.GetClient()
	tries := &failedTries{}
	engine := mirror.New(mirror.Kind[O, R]{
		Name: a.Name, Finalizer: a.Finalizer, New: a.New,
		Begin: func(p *mirror.Pass[O]) mirror.Actuator[R] {
			return &actuator[O, R]{Adapter: a, relations: rel, pass: p, tries: tries, spec: a.Spec(p.Object), status: a.Status(p.Object)}
		},
	}, mirror.Deps{Client: c, Live: mgr.GetAPIReader(), Session: session}, mirror.Recorder(mgr, a.Component))

	siblings := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		o, ok := obj.(O)
		if !ok {
			return nil
		}
		var all []reconcile.Request
		for _, key := range a.keys(o) {
			all = append(all, rel.key.Requests(ctx, c, "", key)...)
		}
		return all
	})
	scope := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []reconcile.Request {
		pool, ok := obj.(*v1beta1.Pool)
		if !ok || pool.Spec.GitHubScopeRef.Kind != a.Name {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.GitHubScopeRef.Name}}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(a.Name)).
		For(a.New(), builder.WithPredicates(mirror.Own())).
		Watches(a.New(), siblings, builder.WithPredicates(mirror.Deletions())).
		Watches(&v1beta1.Pool{}, scope, builder.WithPredicates(mirror.Deletions())).
		Watches(&v1beta1.GitHubCredential{}, rel.credentials.Handler(c), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.Secret{}, rel.secret.Handler(c)).
		WatchesRawSource(session.Source(a.requests(c, rel), remote.KindSession, a.Remote, remote.KindPool, remote.KindCredentials)).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(a.Concurrent, 1), RateLimiter: mirror.RateLimiter()}).
		Complete(engine)
}

// requests finds the resources that a change at the server is about.
func (a *Adapter[O, R]) requests(c client.Reader, rel relations[O]) remote.MapFunc {
	return func(ctx context.Context, n remote.Notice) []reconcile.Request {
		switch {
		case n.Kind == remote.KindPool && n.Resync(), n.Kind == remote.KindCredentials && n.Resync():
			return nil
		case n.Resync():
			return rel.id.All(ctx, c)
		case n.Kind == remote.KindPool:
			return rel.id.Requests(ctx, c, "", n.Parent)
		case n.Kind == remote.KindCredentials:
			return rel.credentials.Requests(ctx, c, "", n.NaturalKey)
		default:
			_, name, _ := strings.Cut(n.NaturalKey, "/")
			if a.Remote != remote.KindRepository {
				name = "/" + name
			}
			return append(rel.id.Requests(ctx, c, "", n.ID), rel.key.Requests(ctx, c, "", name)...)
		}
	}
}
