package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RunnerSpec is empty: the operator creates Runners, users only delete them.
type RunnerSpec struct{}

// RunnerAddress is one address of a runner's machine.
type RunnerAddress struct {
	// The address.
	Address string `json:"address"`

	// Type of the address: public or private.
	Type string `json:"type"`
}

// RunnerStatus is the state of a runner as the GARM server reports it.
type RunnerStatus struct {
	// Id (UUID) of the instance at the GARM server.
	// +optional
	ID string `json:"id,omitempty"`

	// Id of the machine at the provider.
	// +optional
	ProviderID string `json:"providerId,omitempty"`

	// Id of the runner at GitHub. 0 until it has registered.
	AgentID int64 `json:"agentId"`

	// Name of the instance, in its original case.
	// +optional
	Name string `json:"name,omitempty"`

	// Operating system: linux or windows.
	// +optional
	OSType string `json:"osType,omitempty"`

	// Name of the operating system, such as ubuntu.
	// +optional
	OSName string `json:"osName,omitempty"`

	// Version of the operating system.
	// +optional
	OSVersion string `json:"osVersion,omitempty"`

	// Architecture of the machine.
	// +optional
	OSArch string `json:"osArch,omitempty"`

	// Addresses of the machine.
	// +optional
	Addresses []RunnerAddress `json:"addresses,omitempty"`

	// State of the runner at GitHub: pending, installing, idle, active, failed or terminated.
	// +optional
	Status string `json:"status,omitempty"`

	// State of the machine at the provider: pending_create, creating, running, stopped, error, pending_delete,
	// pending_force_delete, deleting, deleted or unknown.
	// +optional
	InstanceStatus string `json:"instanceStatus,omitempty"`

	// Name of the Pool that the runner belongs to; the id at the GARM server when no Pool has it.
	// +optional
	PoolID string `json:"poolId,omitempty"`

	// What the provider said when it failed.
	// +optional
	ProviderFault string `json:"providerFault,omitempty"`

	// Runner group at GitHub.
	GitHubRunnerGroup string `json:"githubRunnerGroup"`

	// Id (UUID) of the GARM controller that the instance belongs to.
	// +optional
	ControllerID string `json:"controllerId,omitempty"`

	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready while the instance is shown as the GARM server has it, whatever the runner does; False, with Reconciling,
	// while it is being deleted, with what that waits for, such as the end of a job.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Runner shows one runner instance of a Pool. The operator creates and removes Runners as instances come and go;
// deleting a Runner removes the instance, but never a busy one.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=runners,singular=runner,shortName=run,categories=garm,scope=Namespaced
// +kubebuilder:selectablefield:JSONPath=".status.poolId"
// +kubebuilder:selectablefield:JSONPath=".status.status"
// +kubebuilder:selectablefield:JSONPath=".status.instanceStatus"
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.id"
// +kubebuilder:printcolumn:name="Pool",type="string",JSONPath=".status.poolId"
// +kubebuilder:printcolumn:name="Garm Runner Status",type="string",JSONPath=".status.status"
// +kubebuilder:printcolumn:name="Provider Runner Status",type="string",JSONPath=".status.instanceStatus"
// +kubebuilder:printcolumn:name="Provider ID",type="string",JSONPath=".status.providerId",priority=1
// +kubebuilder:printcolumn:name="Agent ID",type="string",JSONPath=".status.agentId",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type Runner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Always empty.
	// +optional
	Spec RunnerSpec `json:"spec,omitempty"`

	// Observed state, written by the operator.
	// +optional
	Status RunnerStatus `json:"status,omitzero"`
}

// RunnerList is a list of Runner resources.
//
// +kubebuilder:object:root=true
type RunnerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Runner `json:"items"`
}
