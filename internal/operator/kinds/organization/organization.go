// Package organization mirrors Organizations.
package organization

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/entity"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// New returns what is special about Organizations. Concurrent is how many are worked on at once.
func New(concurrent int) *entity.Adapter[*v1beta1.Organization, garm.Organization] {
	return &entity.Adapter[*v1beta1.Organization, garm.Organization]{
		Name: v1beta1.KindOrganization, Remote: remote.KindOrganization, Finalizer: v1beta1.FinalizerOrganization,
		Component: "organization-controller", Concurrent: concurrent,
		New:     func() *v1beta1.Organization { return &v1beta1.Organization{} },
		NewList: func() client.ObjectList { return &v1beta1.OrganizationList{} },
		Items: func(list client.ObjectList) []*v1beta1.Organization {
			return refs.Pointers(list.(*v1beta1.OrganizationList).Items)
		},
		Spec: func(o *v1beta1.Organization) entity.Spec {
			return entity.Spec{
				Name: entity.NameOr(o.Spec.Name, o.Name), CredentialsRef: o.Spec.CredentialsRef,
				WebhookSecret: o.Spec.WebhookSecretRef, Balancer: o.Spec.PoolBalancerType, Webhook: o.Spec.Webhook,
			}
		},
		Status: func(o *v1beta1.Organization) *v1beta1.EntityStatus { return &o.Status },
		ByID:   (*remote.View).Organization,
		ByKey: func(v *remote.View, endpoint string, s entity.Spec) ([]garm.Organization, bool) {
			return v.OrganizationsNamed(endpoint, s.Name)
		},
		Entity:    func(r *garm.Organization) *garm.Entity { return &r.Entity },
		RepoOwner: func(*garm.Organization) string { return "" },
		Create: func(ctx context.Context, w *remote.Writer, params garm.CreateEntityParams) (garm.Organization, error) {
			return w.CreateOrganization(ctx, params)
		},
		Update: func(ctx context.Context, w *remote.Writer, id string, params garm.UpdateEntityParams) (garm.Organization, error) {
			return w.UpdateOrganization(ctx, id, params)
		},
		Delete: func(ctx context.Context, w *remote.Writer, id string) error { return w.DeleteOrganization(ctx, id) },
	}
}
