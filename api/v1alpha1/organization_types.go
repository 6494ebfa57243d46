package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OrganizationSpec is the desired state of an Organization.
type OrganizationSpec struct {
	// Name of the organization at GitHub.
	// When it is left out, the name of the resource is the name at GitHub; set it for names that Kubernetes does not
	// allow (upper case, underscores, a leading dot). Case does not matter. It cannot be changed to another name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Name string `json:"name,omitempty"`

	// Name of a GitHubCredential, in the same namespace, that GARM uses for this organization. In v1beta1 it is
	// credentialsRef.name.
	CredentialsName string `json:"credentialsName"`

	// Secret with which GitHub signs the webhooks of this organization.
	WebhookSecretRef SecretRef `json:"webhookSecretRef"`
}

// Organization is a GitHub organization whose runners GARM manages. The name of the resource is the name of the organization
// at GitHub, unless spec.name gives another. This version is deprecated; use v1beta1.
//
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion:warning="garm-operator.mercedes-benz.com/v1alpha1 Organization is deprecated; use garm-operator.mercedes-benz.com/v1beta1 Organization"
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=organizations,singular=organization,shortName=org,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.id"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Error",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:printcolumn:name="Pool_Manager_Failure",type="string",JSONPath=".status.conditions[?(@.reason=='PoolManagerFailure')].message",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))",optionalOldSelf=true,message="spec is required"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.name) ? self.spec.name : self.metadata.name).lowerAscii() == (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name).lowerAscii() || (has(self.status) && has(self.status.name) && has(self.spec.name) && self.spec.name.lowerAscii() == self.status.name.lowerAscii())",fieldPath=".spec.name",message="spec.name is immutable; delete the Organization and create it under the other name"
type Organization struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec OrganizationSpec `json:"spec,omitzero"`

	// Observed state, written by the operator.
	// +optional
	Status EntityStatus `json:"status,omitzero"`
}

// OrganizationList is a list of Organization resources.
//
// +kubebuilder:object:root=true
type OrganizationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Organization `json:"items"`
}
