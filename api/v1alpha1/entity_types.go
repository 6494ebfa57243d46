package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EntityStatus is the observed state of an Enterprise, Organization or Repository.
type EntityStatus struct {
	// Id (UUID) of the entity at the GARM server. Empty until it is known.
	ID string `json:"id"`

	// Name of the entity at the GARM server, of a repository without its owner. Where spec.name has been lost, it may be
	// set to this one again.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// Conditions: Ready, PoolManager, WebhookSecretReference, GithubCredentialsReference; Reconciling, Stalled and Paused
	// while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
