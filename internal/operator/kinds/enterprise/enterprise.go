// Package enterprise mirrors Enterprises.
package enterprise

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/entity"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// New returns what is special about Enterprises. Concurrent is how many are worked on at once.
func New(concurrent int) *entity.Adapter[*v1beta1.Enterprise, garm.Enterprise] {
	return &entity.Adapter[*v1beta1.Enterprise, garm.Enterprise]{
		Name: v1beta1.KindEnterprise, Remote: remote.KindEnterprise, Finalizer: v1beta1.FinalizerEnterprise,
		Component: "enterprise-controller", Concurrent: concurrent,
		New:     func() *v1beta1.Enterprise { return &v1beta1.Enterprise{} },
		NewList: func() client.ObjectList { return &v1beta1.EnterpriseList{} },
		Items: func(list client.ObjectList) []*v1beta1.Enterprise {
			return refs.Pointers(list.(*v1beta1.EnterpriseList).Items)
		},
		Spec: func(o *v1beta1.Enterprise) entity.Spec {
			return entity.Spec{
				Name: entity.NameOr(o.Spec.Name, o.Name), CredentialsRef: o.Spec.CredentialsRef,
				WebhookSecret: o.Spec.WebhookSecretRef, Balancer: o.Spec.PoolBalancerType,
			}
		},
		Status: func(o *v1beta1.Enterprise) *v1beta1.EntityStatus { return &o.Status },
		ByID:   (*remote.View).Enterprise,
		ByKey: func(v *remote.View, endpoint string, s entity.Spec) ([]garm.Enterprise, bool) {
			return v.EnterprisesNamed(endpoint, s.Name)
		},
		Entity:    func(r *garm.Enterprise) *garm.Entity { return &r.Entity },
		RepoOwner: func(*garm.Enterprise) string { return "" },
		Create: func(ctx context.Context, w *remote.Writer, params garm.CreateEntityParams) (garm.Enterprise, error) {
			return w.CreateEnterprise(ctx, params)
		},
		Update: func(ctx context.Context, w *remote.Writer, id string, params garm.UpdateEntityParams) (garm.Enterprise, error) {
			return w.UpdateEnterprise(ctx, id, params)
		},
		Delete: func(ctx context.Context, w *remote.Writer, id string) error { return w.DeleteEnterprise(ctx, id) },
	}
}
