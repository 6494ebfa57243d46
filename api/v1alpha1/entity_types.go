package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EntityStatus is the observed state of an Enterprise, Organization or Repository.
type EntityStatus struct {
	// Id (UUID) of the entity at the GARM server. Empty until it is known.
	ID string `json:"id"`

	// Conditions: Ready, PoolManager, WebhookSecretReference, GithubCredentialsReference; Reconciling, Stalled and Paused
	// while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
