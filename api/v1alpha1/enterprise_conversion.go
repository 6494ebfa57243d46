package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var _ conversion.Convertible = &Enterprise{}

// ConvertTo fills a v1beta1 Enterprise from this one. The error says that hub is of another type.
func (e *Enterprise) ConvertTo(hub conversion.Hub) error {
	to, err := as[*v1beta1.Enterprise](hub)
	if err != nil {
		return err
	}
	to.Spec, to.Status = e.said()
	to.ObjectMeta = restore(e.ObjectMeta, &to.Spec, &to.Status)
	e.overlay(to)
	return nil
}

// ConvertFrom fills this Enterprise from a v1beta1 one. The error says that hub is of another type, or cannot be written as JSON.
func (e *Enterprise) ConvertFrom(hub conversion.Hub) error {
	from, err := as[*v1beta1.Enterprise](hub)
	if err != nil {
		return err
	}
	e.Spec = EnterpriseSpec{
		Name:             from.Spec.Name,
		CredentialsName:  from.Spec.CredentialsRef.Name,
		WebhookSecretRef: secretRef(from.Spec.WebhookSecretRef),
	}
	e.Status = entityStatus(from.Status)
	spec, status := e.said()
	e.ObjectMeta, err = keep(from.ObjectMeta, from.Spec, spec, from.Status, status)
	return err
}

// said returns what this Enterprise becomes without an annotation.
func (e *Enterprise) said() (v1beta1.EnterpriseSpec, v1beta1.EntityStatus) {
	hub := &v1beta1.Enterprise{Spec: v1beta1.EnterpriseSpec{CredentialsRef: credentialsRef(e.Spec.CredentialsName)}}
	e.overlay(hub)
	return hub.Spec, hub.Status
}

// overlay puts what this Enterprise says over hub, and leaves the rest of it as it is.
func (e *Enterprise) overlay(hub *v1beta1.Enterprise) {
	hub.Spec.Name = e.Spec.Name
	hub.Spec.CredentialsRef.Name = e.Spec.CredentialsName
	e.Spec.WebhookSecretRef.overlay(&hub.Spec.WebhookSecretRef)
	e.Status.overlay(&hub.Status)
}
