package credential

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

func credentials(field string, names func(*v1beta1.GitHubCredential) []string) refs.Reference[*v1beta1.GitHubCredential] {
	return refs.Reference[*v1beta1.GitHubCredential]{
		Field: field, Names: names, New: func() *v1beta1.GitHubCredential { return &v1beta1.GitHubCredential{} },
		NewList: func() client.ObjectList { return &v1beta1.GitHubCredentialList{} },
		Items: func(list client.ObjectList) []*v1beta1.GitHubCredential {
			return refs.Pointers(list.(*v1beta1.GitHubCredentialList).Items)
		},
	}
}

var (
	byEndpoint = credentials("spec.endpointRef.name", func(c *v1beta1.GitHubCredential) []string {
		return []string{c.Spec.EndpointRef.Name}
	})
	bySecret = credentials("spec.secretRef.name", func(c *v1beta1.GitHubCredential) []string {
		if c.Spec.SecretRef.IsSet() {
			return []string{c.Spec.SecretRef.Name}
		}
		return nil
	})
	byName = credentials("name", func(c *v1beta1.GitHubCredential) []string { return []string{c.Name} })
)

// Setup adds the controller to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, session *remote.Session) error {
	for _, r := range []refs.Reference[*v1beta1.GitHubCredential]{byEndpoint, bySecret, byName} {
		if err := r.Index(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
	}
	c := mgr.GetClient()
	engine := mirror.New(mirror.Kind[*v1beta1.GitHubCredential, garm.Credentials]{
		Name: v1beta1.KindGitHubCredential, Finalizer: v1beta1.FinalizerGitHubCredential,
		New: func() *v1beta1.GitHubCredential { return &v1beta1.GitHubCredential{} },
		Begin: func(p *mirror.Pass[*v1beta1.GitHubCredential]) mirror.Actuator[garm.Credentials] {
			return &actuator{pass: p}
		},
	}, mirror.Deps{Client: c, Live: mgr.GetAPIReader(), Session: session}, mirror.Recorder(mgr, "github-credentials-controller"))
	siblings := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		return byName.Requests(ctx, c, "", obj.GetName())
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("githubcredential").
		For(&v1beta1.GitHubCredential{}, builder.WithPredicates(mirror.Own())).
		Watches(&v1beta1.GitHubCredential{}, siblings, builder.WithPredicates(mirror.Deletions())).
		Watches(&v1beta1.GitHubEndpoint{}, byEndpoint.Handler(c), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.Secret{}, bySecret.Handler(c)).
		WatchesRawSource(session.Source(func(ctx context.Context, n remote.Notice) []reconcile.Request {
			switch {
			case n.Resync() && (n.Kind == remote.KindSession || n.Kind == remote.KindCredentials):
				return byName.All(ctx, c)
			case n.Resync():
				return nil
			case n.Kind == remote.KindCredentials:
				return byName.Requests(ctx, c, "", n.NaturalKey)
			case n.Kind == remote.KindEndpoint:
				return byEndpoint.Requests(ctx, c, "", n.NaturalKey)
			default:
				return byName.All(ctx, c)
			}
		}, remote.KindSession, remote.KindCredentials, remote.KindEndpoint, remote.KindRepository, remote.KindOrganization, remote.KindEnterprise)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: mirror.RateLimiter()}).
		Complete(engine)
}
