package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var _ conversion.Convertible = &Image{}

// ConvertTo fills a v1beta1 Image from this one. The error says that hub is of another type.
func (i *Image) ConvertTo(hub conversion.Hub) error {
	to, err := as[*v1beta1.Image](hub)
	if err != nil {
		return err
	}
	to.Spec, to.Status = i.said()
	to.ObjectMeta = restore(i.ObjectMeta, &to.Spec, &to.Status)
	i.overlay(to)
	return nil
}

// ConvertFrom fills this Image from a v1beta1 one. The error says that hub is of another type, or cannot be written as JSON.
func (i *Image) ConvertFrom(hub conversion.Hub) error {
	from, err := as[*v1beta1.Image](hub)
	if err != nil {
		return err
	}
	i.Spec, i.Status = ImageSpec{Tag: from.Spec.Tag}, ImageStatus{}
	spec, status := i.said()
	i.ObjectMeta, err = keep(from.ObjectMeta, from.Spec, spec, from.Status, status)
	return err
}

// said returns what this Image becomes without an annotation.
func (i *Image) said() (v1beta1.ImageSpec, v1beta1.ImageStatus) {
	hub := &v1beta1.Image{}
	i.overlay(hub)
	return hub.Spec, hub.Status
}

// overlay puts what this Image says over hub, and leaves the rest of it as it is.
func (i *Image) overlay(hub *v1beta1.Image) {
	hub.Spec.Tag = i.Spec.Tag
}
