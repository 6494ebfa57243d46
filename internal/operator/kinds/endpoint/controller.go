package endpoint

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// guardRetry is how often a deletion that something holds up is looked at when nothing wakes it.
const guardRetry = time.Minute

func endpoints(field string, names func(*v1beta1.GitHubEndpoint) []string) refs.Reference[*v1beta1.GitHubEndpoint] {
	return refs.Reference[*v1beta1.GitHubEndpoint]{
		Field: field, Names: names, New: func() *v1beta1.GitHubEndpoint { return &v1beta1.GitHubEndpoint{} },
		NewList: func() client.ObjectList { return &v1beta1.GitHubEndpointList{} },
		Items: func(list client.ObjectList) []*v1beta1.GitHubEndpoint {
			return refs.Pointers(list.(*v1beta1.GitHubEndpointList).Items)
		},
	}
}

var (
	bySecret = endpoints("spec.caCertBundleSecretRef.name", func(e *v1beta1.GitHubEndpoint) []string {
		if ref := e.Spec.CACertBundleSecretRef; ref.IsSet() {
			return []string{ref.Name}
		}
		return nil
	})
	byName        = endpoints("name", func(e *v1beta1.GitHubEndpoint) []string { return []string{e.Name} })
	credentialsOf = refs.Reference[*v1beta1.GitHubCredential]{
		Field: "spec.endpointRef.name", NewList: func() client.ObjectList { return &v1beta1.GitHubCredentialList{} },
		Items: func(list client.ObjectList) []*v1beta1.GitHubCredential {
			return refs.Pointers(list.(*v1beta1.GitHubCredentialList).Items)
		},
	}
)

// Owner says whether an older resource has the same name, in another namespace.
func (a *actuator) Owner(ctx context.Context) error {
	p := a.pass
	same, err := byName.Referrers(ctx, p.Client, "", p.Object.Name)
	if err != nil {
		return err
	}
	if owner := refs.Oldest(same); owner != nil && owner.UID != p.Object.UID {
		return mirror.Stop(v1beta1.ReasonNotOwner, fmt.Sprintf("GitHubEndpoint %s/%s comes first and stands for the same endpoint", owner.Namespace, owner.Name))
	}
	return nil
}

// Setup adds the controller to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, session *remote.Session) error {
	for _, r := range []refs.Reference[*v1beta1.GitHubEndpoint]{bySecret, byName} {
		if err := r.Index(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
	}
	c, seen := mgr.GetClient(), newBundles()
	engine := mirror.New(mirror.Kind[*v1beta1.GitHubEndpoint, garm.Endpoint]{
		Name: v1beta1.KindGitHubEndpoint, Finalizer: v1beta1.FinalizerGitHubEndpoint,
		New: func() *v1beta1.GitHubEndpoint { return &v1beta1.GitHubEndpoint{} },
		Begin: func(p *mirror.Pass[*v1beta1.GitHubEndpoint]) mirror.Actuator[garm.Endpoint] {
			return &actuator{pass: p, bundles: seen}
		},
	}, mirror.Deps{Client: c, Live: mgr.GetAPIReader(), Session: session}, mirror.Recorder(mgr, "github-endpoint-controller"))
	siblings := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		return byName.Requests(ctx, c, "", obj.GetName())
	})
	used := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []reconcile.Request {
		credential, ok := obj.(*v1beta1.GitHubCredential)
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: credential.Namespace, Name: credential.Spec.EndpointRef.Name}}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("githubendpoint").
		For(&v1beta1.GitHubEndpoint{}, builder.WithPredicates(mirror.Own())).
		Watches(&v1beta1.GitHubEndpoint{}, siblings, builder.WithPredicates(mirror.Deletions())).
		Watches(&v1beta1.GitHubCredential{}, used, builder.WithPredicates(mirror.Deletions())).
		WatchesMetadata(&corev1.Secret{}, bySecret.Handler(c)).
		WatchesRawSource(session.Source(func(ctx context.Context, n remote.Notice) []reconcile.Request {
			switch {
			case n.Kind == remote.KindCredentials && n.Resync():
				return nil
			case n.Resync(), n.Kind == remote.KindCredentials:
				return byName.All(ctx, c)
			default:
				return byName.Requests(ctx, c, "", n.NaturalKey)
			}
		}, remote.KindSession, remote.KindEndpoint, remote.KindCredentials)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: mirror.RateLimiter()}).
		Complete(engine)
}
