package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AuthType is the way in which GARM authenticates at GitHub.
//
// +kubebuilder:validation:Enum=pat;app
type AuthType string

// The ways of authentication.
const (
	// AuthTypePAT uses a personal access token.
	AuthTypePAT AuthType = "pat"
	// AuthTypeApp uses an installation of a GitHub App.
	AuthTypeApp AuthType = "app"
)

// GitHubCredentialSpec is the desired state of a GitHubCredential.
//
// The rules over several fields let an object that broke them before they existed be edited otherwise.
//
// +kubebuilder:validation:XValidation:rule="self.authType != 'app' || (has(self.appId) && self.appId > 0) || (oldSelf.hasValue() && oldSelf.value().authType == 'app' && !(has(oldSelf.value().appId) && oldSelf.value().appId > 0))",optionalOldSelf=true,fieldPath=".appId",message="appId is required with authType app"
// +kubebuilder:validation:XValidation:rule="self.authType != 'app' || (has(self.installationId) && self.installationId > 0) || (oldSelf.hasValue() && oldSelf.value().authType == 'app' && !(has(oldSelf.value().installationId) && oldSelf.value().installationId > 0))",optionalOldSelf=true,fieldPath=".installationId",message="installationId is required with authType app"
// +kubebuilder:validation:XValidation:rule="self.authType != 'pat' || !has(self.appId) || self.appId == 0 || (oldSelf.hasValue() && oldSelf.value().authType == 'pat' && has(oldSelf.value().appId) && oldSelf.value().appId != 0)",optionalOldSelf=true,fieldPath=".appId",message="appId must not be set with authType pat"
// +kubebuilder:validation:XValidation:rule="self.authType != 'pat' || !has(self.installationId) || self.installationId == 0 || (oldSelf.hasValue() && oldSelf.value().authType == 'pat' && has(oldSelf.value().installationId) && oldSelf.value().installationId != 0)",optionalOldSelf=true,fieldPath=".installationId",message="installationId must not be set with authType pat"
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) || (oldSelf.hasValue() && !has(oldSelf.value().secretRef))",optionalOldSelf=true,fieldPath=".secretRef",message="secretRef is required: the Secret with the token, or with the private key of the App"
type GitHubCredentialSpec struct {
	// Free text that the GARM server shows with the credentials; it may be empty.
	Description string `json:"description"`

	// GitHubEndpoint, in the same namespace, that the credential is for. Only the name counts.
	EndpointRef TypedLocalObjectReference `json:"endpointRef"`

	// How GARM authenticates: "pat" with a personal access token, "app" with an installation of a GitHub App.
	AuthType AuthType `json:"authType"`

	// Id of the GitHub App, which its settings show, such as 123456. Needed with authType app, not allowed with pat.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AppID int64 `json:"appId,omitempty"`

	// Id of the installation of the GitHub App, the number at the end of the address of its page, such as 12345678. Needed
	// with authType app, not allowed with pat.
	// +optional
	// +kubebuilder:validation:Minimum=0
	InstallationID int64 `json:"installationId,omitempty"`

	// Secret with the personal access token (authType pat) or with the private key of the App in PEM (authType app).
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self.name) > 0 && size(self.key) > 0",message="secretRef needs the name of a Secret and a key in it"
	SecretRef *SecretRef `json:"secretRef,omitempty"`

	// What becomes of the credentials at the GARM server when this resource is deleted: "Delete" deletes it there, too; "Orphan"
	// leaves it there as it is. Left out, it means Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// GitHubCredentialStatus is the observed state of a GitHubCredential.
type GitHubCredentialStatus struct {
	// Id of the credential at the GARM server. 0 until it is known.
	ID int64 `json:"id"`

	// Base URL of the REST API of the credential's endpoint.
	APIBaseURL string `json:"apiBaseUrl"`

	// Base URL for uploads of the credential's endpoint.
	UploadBaseURL string `json:"uploadBaseUrl"`

	// Base URL of the web pages of the credential's endpoint.
	BaseURL string `json:"baseUrl"`

	// Names of the repositories that use the credential.
	// +optional
	Repositories []string `json:"repositories,omitempty"`

	// Names of the organizations that use the credential.
	// +optional
	Organizations []string `json:"organizations,omitempty"`

	// Names of the enterprises that use the credential.
	// +optional
	Enterprises []string `json:"enterprises,omitempty"`

	// Id (UUID) of the GARM controller that drew the id. An id counts only at that controller.
	// +optional
	ControllerID string `json:"controllerId,omitempty"`

	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, GithubEndpointReference, WebhookSecretReference (for the token or key); Reconciling, Stalled and
	// Paused while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GitHubCredential is a token or a GitHub App with which GARM works at a GitHubEndpoint. The name of the resource is the
// name of the credential at the GARM server.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=githubcredentials,singular=githubcredential,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.id"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Error",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:printcolumn:name="AuthType",type="string",JSONPath=".spec.authType"
// +kubebuilder:printcolumn:name="GitHubEndpoint",type="string",JSONPath=".spec.endpointRef.name"
// +kubebuilder:printcolumn:name="Repositories",type="string",JSONPath=".status.repositories",priority=1
// +kubebuilder:printcolumn:name="Organizations",type="string",JSONPath=".status.organizations",priority=1
// +kubebuilder:printcolumn:name="Enterprises",type="string",JSONPath=".status.enterprises",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))",optionalOldSelf=true,message="spec is required"
type GitHubCredential struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec GitHubCredentialSpec `json:"spec,omitempty"`

	// Observed state, written by the operator.
	// +optional
	Status GitHubCredentialStatus `json:"status,omitempty"`
}

// GitHubCredentialList is a list of GitHubCredential resources.
//
// +kubebuilder:object:root=true
type GitHubCredentialList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GitHubCredential `json:"items"`
}
