package v1beta1

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

	// GitHubCredential, in the same namespace, that GARM uses for this enterprise. Only the name counts.
	CredentialsRef TypedLocalObjectReference `json:"credentialsRef"`

	// Secret with which GitHub signs the webhooks of this enterprise.
	// +kubebuilder:validation:XValidation:rule="size(self.name) > 0 && size(self.key) > 0",message="webhookSecretRef needs the name of a Secret and a key in it"
	WebhookSecretRef SecretRef `json:"webhookSecretRef"`

	// How jobs are spread over the pools that could run them: "roundrobin" takes the pools in turn, "pack" fills one
	// before it uses the next. Empty leaves the choice to the server, which takes roundrobin.
	// +optional
	PoolBalancerType PoolBalancerType `json:"poolBalancerType,omitempty"`

	// What becomes of the enterprise at the GARM server when this resource is deleted: "Delete" deletes it there, too; "Orphan"
	// leaves it there as it is. Left out, it means Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// Enterprise is a GitHub enterprise whose runners GARM manages. The name of the resource is the name of the
// enterprise at GitHub, unless spec.name gives another.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
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

// GitHubName returns the name of the enterprise at GitHub.
func (e *Enterprise) GitHubName() string {
	if e.Spec.Name != "" {
		return e.Spec.Name
	}
	return e.Name
}

// EnterpriseList is a list of Enterprise resources.
//
// +kubebuilder:object:root=true
type EnterpriseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Enterprise `json:"items"`
}
