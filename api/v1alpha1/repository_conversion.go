package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var _ conversion.Convertible = &Repository{}

// ConvertTo fills a v1beta1 Repository from this one. The error says that hub is of another type.
func (r *Repository) ConvertTo(hub conversion.Hub) error {
	to, err := as[*v1beta1.Repository](hub)
	if err != nil {
		return err
	}
	to.Spec, to.Status = r.said()
	to.ObjectMeta = restore(r.ObjectMeta, &to.Spec, &to.Status)
	r.overlay(to)
	return nil
}

// ConvertFrom fills this Repository from a v1beta1 one. The error says that hub is of another type, or cannot be written as JSON.
func (r *Repository) ConvertFrom(hub conversion.Hub) error {
	from, err := as[*v1beta1.Repository](hub)
	if err != nil {
		return err
	}
	r.Spec = RepositorySpec{
		Name:             from.Spec.Name,
		Owner:            from.Spec.Owner,
		CredentialsName:  from.Spec.CredentialsRef.Name,
		WebhookSecretRef: secretRef(from.Spec.WebhookSecretRef),
	}
	r.Status = entityStatus(from.Status)
	spec, status := r.said()
	r.ObjectMeta, err = keep(from.ObjectMeta, from.Spec, spec, from.Status, status)
	return err
}

// said returns what this Repository becomes without an annotation.
func (r *Repository) said() (v1beta1.RepositorySpec, v1beta1.EntityStatus) {
	hub := &v1beta1.Repository{Spec: v1beta1.RepositorySpec{CredentialsRef: credentialsRef(r.Spec.CredentialsName)}}
	r.overlay(hub)
	return hub.Spec, hub.Status
}

// overlay puts what this Repository says over hub, and leaves the rest of it as it is.
func (r *Repository) overlay(hub *v1beta1.Repository) {
	hub.Spec.Name = r.Spec.Name
	hub.Spec.Owner = r.Spec.Owner
	hub.Spec.CredentialsRef.Name = r.Spec.CredentialsName
	r.Spec.WebhookSecretRef.overlay(&hub.Spec.WebhookSecretRef)
	r.Status.overlay(&hub.Status)
}
