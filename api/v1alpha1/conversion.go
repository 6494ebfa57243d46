package v1alpha1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// as returns the hub object as the type of a kind.
func as[H conversion.Hub](hub conversion.Hub) (H, error) {
	object, ok := hub.(H)
	if !ok {
		return object, fmt.Errorf("convert %T: want %T", hub, object)
	}
	return object, nil
}

// credentialsRef returns the reference that a credentialsName stands for: one without a name is none.
func credentialsRef(name string) v1beta1.TypedLocalObjectReference {
	if name == "" {
		return v1beta1.TypedLocalObjectReference{}
	}
	group := v1beta1.Group
	return v1beta1.TypedLocalObjectReference{APIGroup: &group, Kind: v1beta1.KindGitHubCredential, Name: name}
}

// overlay puts what v1alpha1 says over a reference, and leaves the rest of it as it is.
func (r SecretRef) overlay(hub *v1beta1.SecretRef) {
	hub.Name, hub.Key = r.Name, r.Key
}

func secretRef(hub v1beta1.SecretRef) SecretRef {
	return SecretRef{Name: hub.Name, Key: hub.Key}
}

func (s EntityStatus) overlay(hub *v1beta1.EntityStatus) {
	hub.ID, hub.Name, hub.Conditions = s.ID, s.Name, s.Conditions
}

func entityStatus(hub v1beta1.EntityStatus) EntityStatus {
	return EntityStatus{ID: hub.ID, Name: hub.Name, Conditions: hub.Conditions}
}
