package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GarmServerConfigSpec is the desired configuration of the GARM server. A URL that is left out stays as it is at the
// server.
type GarmServerConfigSpec struct {
	// URL at which runners fetch what they need to set themselves up. It must reach the server's
	// /api/v1/metadata, such as http://garm-server.garm-server.svc:9997/api/v1/metadata. Left out, what the server has stays.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@')",reason=FieldValueForbidden,message="must not hold a user or password, since runners and GitHub are told it and the status shows it; leave out what is before the @"
	MetadataURL URL `json:"metadataUrl,omitempty"`

	// URL at which runners report their progress. It must reach the server's /api/v1/callbacks, such as
	// http://garm-server.garm-server.svc:9997/api/v1/callbacks. Left out, what the server has stays.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@')",reason=FieldValueForbidden,message="must not hold a user or password, since runners and GitHub are told it and the status shows it; leave out what is before the @"
	CallbackURL URL `json:"callbackUrl,omitempty"`

	// URL at which GitHub delivers webhooks. It must reach the server's /webhooks, such as
	// https://garm.example.com/webhooks. Left out, what the server has stays.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@')",reason=FieldValueForbidden,message="must not hold a user or password, since runners and GitHub are told it and the status shows it; leave out what is before the @"
	WebhookURL URL `json:"webhookUrl,omitempty"`
}

// GarmServerConfigStatus is the configuration of the GARM server as it reports it.
type GarmServerConfigStatus struct {
	// Id (UUID) of the GARM controller, drawn when its database was made.
	// +optional
	ControllerID string `json:"controllerId,omitempty"`

	// Host name of the server.
	// +optional
	Hostname string `json:"hostname,omitempty"`

	// Metadata URL in force.
	// +optional
	MetadataURL string `json:"metadataUrl,omitempty"`

	// Callback URL in force.
	// +optional
	CallbackURL string `json:"callbackUrl,omitempty"`

	// Webhook URL in force.
	// +optional
	WebhookURL string `json:"webhookUrl,omitempty"`

	// Webhook URL of this controller: the webhook URL followed by the controller's id.
	// +optional
	ControllerWebhookURL string `json:"controllerWebhookUrl,omitempty"`

	// Seconds that a queued job must have waited before the server makes a runner for it.
	// +optional
	MinimumJobAgeBackoff int64 `json:"minimumJobAgeBackoff,omitempty"`

	// Version of the server.
	// +optional
	Version string `json:"version,omitempty"`

	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready; Reconciling, Stalled and Paused while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GarmServerConfig sets the URLs of the GARM server and shows what it says about itself. Deleting it changes nothing at
// the server.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=garmserverconfigs,singular=garmserverconfig,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.controllerId"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version"
// +kubebuilder:printcolumn:name="MetadataURL",type="string",JSONPath=".status.metadataUrl",priority=1
// +kubebuilder:printcolumn:name="CallbackURL",type="string",JSONPath=".status.callbackUrl",priority=1
// +kubebuilder:printcolumn:name="WebhookURL",type="string",JSONPath=".status.webhookUrl",priority=1
// +kubebuilder:printcolumn:name="ControllerWebhookURL",type="string",JSONPath=".status.controllerWebhookUrl",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type GarmServerConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec GarmServerConfigSpec `json:"spec,omitempty"`

	// Observed state, written by the operator.
	// +optional
	Status GarmServerConfigStatus `json:"status,omitempty"`
}

// GarmServerConfigList is a list of GarmServerConfig resources.
//
// +kubebuilder:object:root=true
type GarmServerConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GarmServerConfig `json:"items"`
}
