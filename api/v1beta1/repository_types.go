package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RepositorySpec is the desired state of a Repository.
type RepositorySpec struct {
	// Name of the repository at GitHub, without its owner.
	// When it is left out, the name of the resource is the name at GitHub; set it for names that Kubernetes does not
	// allow (upper case, underscores, a leading dot). Case does not matter. It cannot be changed to another name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Name string `json:"name,omitempty"`

	// User or organization at GitHub that owns the repository. It cannot be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="owner is immutable; delete the Repository and create it with the other owner"
	Owner string `json:"owner"`

	// GitHubCredential, in the same namespace, that GARM uses for this repository. Only the name counts.
	CredentialsRef TypedLocalObjectReference `json:"credentialsRef"`

	// Secret with which GitHub signs the webhooks of this repository.
	// +kubebuilder:validation:XValidation:rule="size(self.name) > 0 && size(self.key) > 0",message="webhookSecretRef needs the name of a Secret and a key in it"
	WebhookSecretRef SecretRef `json:"webhookSecretRef"`

	// How jobs are spread over the pools that could run them: "roundrobin" takes the pools in turn, "pack" fills one
	// before it uses the next. Empty leaves the choice to the server, which takes roundrobin.
	// +optional
	PoolBalancerType PoolBalancerType `json:"poolBalancerType,omitempty"`

	// What becomes of the repository at the GARM server when this resource is deleted: "Delete" deletes it there, too; "Orphan"
	// leaves it there as it is. Left out, it means Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// The webhook by which GitHub tells the GARM server of the jobs of this repository. Left out, the operator leaves webhooks
	// alone: they are installed by hand, or stay as they are. A webhook that is asked for and fails makes Ready False,
	// although Pools go on; a removal that fails shows in the condition Webhook alone. When this resource is deleted, the
	// GARM server removes its webhook, unless deletionPolicy is Orphan.
	// +optional
	Webhook *WebhookSpec `json:"webhook,omitempty"`
}

// Repository is a GitHub repository whose runners GARM manages. The name of the resource is the name of the
// repository at GitHub, unless spec.name gives another.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=repositories,singular=repository,shortName=repo,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.id"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Error",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:printcolumn:name="Pool_Manager_Failure",type="string",JSONPath=".status.conditions[?(@.reason=='PoolManagerFailure')].message",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))",optionalOldSelf=true,message="spec is required"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.name) ? self.spec.name : self.metadata.name).lowerAscii() == (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name).lowerAscii() || (has(self.status) && has(self.status.name) && has(self.spec.name) && self.spec.name.lowerAscii() == self.status.name.lowerAscii())",fieldPath=".spec.name",message="spec.name is immutable; delete the Repository and create it under the other name"
type Repository struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec RepositorySpec `json:"spec,omitzero"`

	// Observed state, written by the operator.
	// +optional
	Status EntityStatus `json:"status,omitzero"`
}

// GitHubName returns the name of the repository at GitHub.
func (e *Repository) GitHubName() string {
	if e.Spec.Name != "" {
		return e.Spec.Name
	}
	return e.Name
}

// RepositoryList is a list of Repository resources.
//
// +kubebuilder:object:root=true
type RepositoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Repository `json:"items"`
}
