package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PoolSpec is the desired state of a Pool. Text that may be left out is written even if it is empty: manifests of this version
// say so, and applying one again would change something each time if reading did not.
//
// +kubebuilder:validation:XValidation:rule="self.minIdleRunners <= self.maxRunners",fieldPath=".minIdleRunners",message="minIdleRunners must not exceed maxRunners"
type PoolSpec struct {
	// Enterprise, Organization or Repository, in the same namespace, that the runners serve. Kind and name cannot be
	// changed.
	// +kubebuilder:validation:XValidation:rule="self.kind in ['Enterprise', 'Organization', 'Repository']",fieldPath=".kind",message="githubScopeRef.kind must be Enterprise, Organization or Repository"
	// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind && self.name == oldSelf.name",message="githubScopeRef is immutable; delete the Pool and create it with the other scope"
	GitHubScopeRef TypedLocalObjectReference `json:"githubScopeRef"`

	// Name of a provider in the configuration of the GARM server (garm-cli provider list shows them), such as openstack. It
	// cannot be changed.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="providerName is immutable; delete the Pool and create it with the other provider"
	ProviderName string `json:"providerName"`

	// Most runners that the pool may have at one time, busy ones included. At least 1.
	MaxRunners int64 `json:"maxRunners"`

	// Number of idle runners that are kept ready for jobs. At most maxRunners; 0 makes runners only on demand. Also set
	// by the scale subresource.
	// +kubebuilder:default=0
	MinIdleRunners int64 `json:"minIdleRunners"`

	// Size of the machines, in the provider's terms, such as m1.small.
	Flavor string `json:"flavor"`

	// Operating system of the runners: linux or windows.
	OSType string `json:"osType"`

	// Architecture of the runners: amd64, arm64 or arm. The synonyms x86_64 and x64 (amd64), aarch64 (arm64) and armv7l
	// (arm) are accepted.
	OSArch string `json:"osArch"`

	// Labels of the runners. A job runs here when each label in its runs-on is among them. Nothing is added by itself:
	// list "self-hosted" where jobs ask for it. At least one, such as [self-hosted, linux, small].
	Tags []string `json:"tags"`

	// Whether the pool makes new runners. A disabled pool keeps the runners it has.
	Enabled bool `json:"enabled"`

	// Minutes that a runner may take from its creation to its first contact with GitHub before it is replaced. At least
	// 1; 20 is common.
	RunnerBootstrapTimeout int64 `json:"runnerBootstrapTimeout"`

	// Name of an Image in the same namespace. The Pool waits for it when it does not exist yet.
	ImageName string `json:"imageName"`

	// JSON text that is passed to the provider as it stands, such as {"disk_size": 40}; which keys count depends on the
	// provider. Absent, "" and "null" mean none. A bare number is refused, since GARM servers cannot store one.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches(r'^\\s*(\\{[\\s\\S]*\\}|\\[[\\s\\S]*\\]|\"[\\s\\S]*\"|true|false|null)\\s*$')",message="extraSpecs must be empty, null or JSON text such as {\"key\": \"value\"}; a bare number is not allowed"
	ExtraSpecs string `json:"extraSpecs"`

	// Runner group at GitHub that the runners join, for pools of organizations and enterprises. Empty means the default
	// group.
	// +optional
	GitHubRunnerGroup string `json:"githubRunnerGroup"`

	// Beginning of the names of the runners, before a dash and what the GARM server draws. Empty means "garm".
	// +optional
	RunnerPrefix string `json:"runnerPrefix"`
}

// PoolStatus is the observed state of a Pool.
type PoolStatus struct {
	// Id (UUID) of the pool at the GARM server. Empty until it is known.
	ID string `json:"id"`

	// Number of runners that have been idle for longer than the operator's --operator-min-idle-runners-age (2 hours
	// unless set).
	LongRunningIdleRunners int64 `json:"longRunningIdleRunners"`

	// Label selector of the scale subresource. Always empty, since runners need not be Pods.
	Selector string `json:"selector"`

	// Conditions: Ready, ImageReference, ScopeReference; Reconciling, Stalled and Paused while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Pool is a group of runners of one shape that serve one Enterprise, Organization or Repository. This version is deprecated;
// use v1beta1.
//
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion:warning="garm-operator.mercedes-benz.com/v1alpha1 Pool is deprecated; use garm-operator.mercedes-benz.com/v1beta1 Pool"
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.minIdleRunners,statuspath=.status.longRunningIdleRunners,selectorpath=.status.selector
// +kubebuilder:resource:path=pools,singular=pool,categories=garm,scope=Namespaced
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.id"
// +kubebuilder:printcolumn:name="MinIdleRunners",type="string",JSONPath=".spec.minIdleRunners"
// +kubebuilder:printcolumn:name="MaxRunners",type="string",JSONPath=".spec.maxRunners"
// +kubebuilder:printcolumn:name="ImageName",type="string",JSONPath=".spec.imageName",priority=1
// +kubebuilder:printcolumn:name="Flavor",type="string",JSONPath=".spec.flavor",priority=1
// +kubebuilder:printcolumn:name="Provider",type="string",JSONPath=".spec.providerName",priority=1
// +kubebuilder:printcolumn:name="ScopeType",type="string",JSONPath=".spec.githubScopeRef.kind",priority=1
// +kubebuilder:printcolumn:name="ScopeName",type="string",JSONPath=".spec.githubScopeRef.name",priority=1
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Error",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
// +kubebuilder:printcolumn:name="Enabled",type="boolean",JSONPath=".spec.enabled",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))",optionalOldSelf=true,message="spec is required"
type Pool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +optional
	Spec PoolSpec `json:"spec,omitzero"`

	// Observed state, written by the operator.
	// +optional
	Status PoolStatus `json:"status,omitzero"`
}

// PoolList is a list of Pool resources.
//
// +kubebuilder:object:root=true
type PoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Pool `json:"items"`
}
