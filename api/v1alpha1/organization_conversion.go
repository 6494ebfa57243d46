package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var _ conversion.Convertible = &Organization{}

// ConvertTo fills a v1beta1 Organization from this one. The error says that hub is of another type.
func (o *Organization) ConvertTo(hub conversion.Hub) error {
	to, err := as[*v1beta1.Organization](hub)
	if err != nil {
		return err
	}
	to.Spec, to.Status = o.said()
	to.ObjectMeta = restore(o.ObjectMeta, &to.Spec, &to.Status)
	o.overlay(to)
	return nil
}

// ConvertFrom fills this Organization from a v1beta1 one. The error says that hub is of another type, or cannot be written as JSON.
func (o *Organization) ConvertFrom(hub conversion.Hub) error {
	from, err := as[*v1beta1.Organization](hub)
	if err != nil {
		return err
	}
	o.Spec = OrganizationSpec{
		Name:             from.Spec.Name,
		CredentialsName:  from.Spec.CredentialsRef.Name,
		WebhookSecretRef: secretRef(from.Spec.WebhookSecretRef),
	}
	o.Status = entityStatus(from.Status)
	spec, status := o.said()
	o.ObjectMeta, err = keep(from.ObjectMeta, from.Spec, spec, from.Status, status)
	return err
}

// said returns what this Organization becomes without an annotation.
func (o *Organization) said() (v1beta1.OrganizationSpec, v1beta1.EntityStatus) {
	hub := &v1beta1.Organization{Spec: v1beta1.OrganizationSpec{CredentialsRef: credentialsRef(o.Spec.CredentialsName)}}
	o.overlay(hub)
	return hub.Spec, hub.Status
}

// overlay puts what this Organization says over hub, and leaves the rest of it as it is.
func (o *Organization) overlay(hub *v1beta1.Organization) {
	hub.Spec.Name = o.Spec.Name
	hub.Spec.CredentialsRef.Name = o.Spec.CredentialsName
	o.Spec.WebhookSecretRef.overlay(&hub.Spec.WebhookSecretRef)
	o.Status.overlay(&hub.Status)
}
