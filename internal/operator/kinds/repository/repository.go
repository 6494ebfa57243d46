// Package repository mirrors Repositories.
package repository

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/entity"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// New returns what is special about Repositories. Concurrent is how many are worked on at once.
func New(concurrent int) *entity.Adapter[*v1beta1.Repository, garm.Repository] {
	return &entity.Adapter[*v1beta1.Repository, garm.Repository]{
		Name: v1beta1.KindRepository, Remote: remote.KindRepository, Finalizer: v1beta1.FinalizerRepository,
		Component: "repository-controller", Concurrent: concurrent,
		New:     func() *v1beta1.Repository { return &v1beta1.Repository{} },
		NewList: func() client.ObjectList { return &v1beta1.RepositoryList{} },
		Items: func(list client.ObjectList) []*v1beta1.Repository {
			return refs.Pointers(list.(*v1beta1.RepositoryList).Items)
		},
		Spec: func(o *v1beta1.Repository) entity.Spec {
			return entity.Spec{
				Owner: o.Spec.Owner, Name: entity.NameOr(o.Spec.Name, o.Name), CredentialsRef: o.Spec.CredentialsRef,
				WebhookSecret: o.Spec.WebhookSecretRef, Balancer: o.Spec.PoolBalancerType, Webhook: o.Spec.Webhook,
			}
		},
		Status: func(o *v1beta1.Repository) *v1beta1.EntityStatus { return &o.Status },
		ByID:   (*remote.View).Repository,
		ByKey: func(v *remote.View, endpoint string, s entity.Spec) ([]garm.Repository, bool) {
			return v.RepositoriesNamed(endpoint, s.Owner, s.Name)
		},
		Entity:    func(r *garm.Repository) *garm.Entity { return &r.Entity },
		RepoOwner: func(r *garm.Repository) string { return r.Owner },
		Create: func(ctx context.Context, w *remote.Writer, params garm.CreateEntityParams) (garm.Repository, error) {
			return w.CreateRepository(ctx, params)
		},
		Update: func(ctx context.Context, w *remote.Writer, id string, params garm.UpdateEntityParams) (garm.Repository, error) {
			return w.UpdateRepository(ctx, id, params)
		},
		Delete: func(ctx context.Context, w *remote.Writer, id string) error { return w.DeleteRepository(ctx, id) },
	}
}
