package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EnterpriseSpec is the desired state of an Enterprise.
type EnterpriseSpec struct {
	// Name of a GitHubCredential, in the same namespace, that GARM uses for this enterprise. In v1beta1 it is
	// credentialsRef.name.
	CredentialsName string `json:"credentialsName"`

	// Secret with which GitHub signs the webhooks of this enterprise.
	WebhookSecretRef SecretRef `json:"webhookSecretRef"`
}

// Enterprise is a GitHub enterprise whose runners GARM manages. The name of the resource is the name of the enterprise at GitHub. This
// version is deprecated; use v1beta1.
//
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion:warning="garm-operator.mercedes-benz.com/v1alpha1 Enterprise is deprecated; use garm-operator.mercedes-benz.com/v1beta1 Enterprise"
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=enterprises,singular=enterprise,shortName=ent,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.id"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Error",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:printcolumn:name="Pool_Manager_Failure",type="string",JSONPath=".status.conditions[?(@.reason=='PoolManagerFailure')].message",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))",optionalOldSelf=true,message="spec is required"
type Enterprise struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec EnterpriseSpec `json:"spec,omitzero"`

	// Observed state, written by the operator.
	// +optional
	Status EntityStatus `json:"status,omitzero"`
}

// EnterpriseList is a list of Enterprise resources.
//
// +kubebuilder:object:root=true
type EnterpriseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Enterprise `json:"items"`
}
