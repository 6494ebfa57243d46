package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GitHubEndpointSpec is the desired state of a GitHubEndpoint. A URL that is left out is not compared with the server;
// the server needs all three when it creates an endpoint.
type GitHubEndpointSpec struct {
	// Free text that the GARM server shows with the endpoint. Left out, what the server has stays.
	// +optional
	Description string `json:"description,omitempty"`

	// Base URL of the REST API, such as https://api.github.com, or https://ghe.example.com/api/v3 of a GitHub Enterprise
	// Server. Left out, what the GARM server has stays; an endpoint that it does not have yet needs it.
	// +optional
	APIBaseURL URL `json:"apiBaseUrl,omitempty"`

	// Base URL for uploads, such as https://uploads.github.com, or https://ghe.example.com/api/uploads of a GitHub
	// Enterprise Server. Left out, what the GARM server has stays; an endpoint that it does not have yet needs it.
	// +optional
	UploadBaseURL URL `json:"uploadBaseUrl,omitempty"`

	// Base URL of the web pages, such as https://github.com. Left out, what the GARM server has stays; an endpoint that it
	// does not have yet needs it.
	// +optional
	BaseURL URL `json:"baseUrl,omitempty"`

	// Secret with a bundle of CA certificates (PEM) that GARM and the runners trust for this endpoint. Left out, or with
	// empty name and key, it means none.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(size(self.name) > 0) == (size(self.key) > 0)",message="caCertBundleSecretRef needs both the name of a Secret and a key in it, or neither"
	CACertBundleSecretRef *SecretRef `json:"caCertBundleSecretRef,omitempty"`

	// What becomes of the endpoint at the GARM server when this resource is deleted: "Delete" deletes it there, too; "Orphan"
	// leaves it there as it is. Left out, it means Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// GitHubEndpointStatus is the observed state of a GitHubEndpoint.
type GitHubEndpointStatus struct {
	// Id (UUID) of the GARM controller at which the endpoint was created or taken over for this resource. Only there is it
	// deleted with the resource.
	// +optional
	ControllerID string `json:"controllerId,omitempty"`

	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, WebhookSecretReference (for the CA bundle); Reconciling, Stalled and Paused while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GitHubEndpoint is a GitHub instance: github.com or a GitHub Enterprise Server. The name of the resource is the name of
// the endpoint at the GARM server; a resource named github.com stands for the server's built-in endpoint, which is
// released, never deleted, with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=githubendpoints,singular=githubendpoint,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="URL",type="string",JSONPath=".spec.apiBaseUrl"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Error",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type GitHubEndpoint struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec GitHubEndpointSpec `json:"spec,omitempty"`

	// Observed state, written by the operator.
	// +optional
	Status GitHubEndpointStatus `json:"status,omitempty"`
}

// GitHubEndpointList is a list of GitHubEndpoint resources.
//
// +kubebuilder:object:root=true
type GitHubEndpointList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GitHubEndpoint `json:"items"`
}
