package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EnterpriseSpec is the desired state of an Enterprise.
type EnterpriseSpec struct {
	// Name (slug) of the enterprise at GitHub.
	// When it is left out, the name of the resource is the name at GitHub; set it for names that Kubernetes does not
	// allow (upper case, underscores, a leading dot). Case does not matter. It cannot be changed to another name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Name string `json:"name,omitempty"`

	// Name of a GitHubCredential, in the same namespace, that GARM uses for this enterprise. In v1beta1 it is
	// credentialsRef.name.
	CredentialsName string `json:"credentialsName"`

	// Secret with which GitHub signs the webhooks of this enterprise.
	WebhookSecretRef SecretRef `json:"webhookSecretRef"`
}

// Enterprise is a GitHub enterprise whose runners GARM manages. The name of the resource is the name of the enterprise
// at GitHub, unless spec.name gives another. This version is deprecated; use v1beta1.
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
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.name) ? self.spec.name : self.metadata.name).lowerAscii() == (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name).lowerAscii() || (has(self.status) && has(self.status.name) && has(self.spec.name) && self.spec.name.lowerAscii() == self.status.name.lowerAscii())",fieldPath=".spec.name",message="spec.name is immutable; delete the Enterprise and create it under the other name"
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
