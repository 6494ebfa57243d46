package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OSType is the operating system of runners.
//
// +kubebuilder:validation:Enum=linux;windows
type OSType string

// The operating systems.
const (
	OSTypeLinux   OSType = "linux"
	OSTypeWindows OSType = "windows"
)

// OSArch is the processor architecture of runners. The server knows amd64, arm64 and arm; x86_64 and x64 stand for
// amd64, aarch64 for arm64, armv7l for arm.
//
// +kubebuilder:validation:Enum=amd64;arm64;arm;x86_64;x64;aarch64;armv7l
type OSArch string

// The architectures that the server knows.
const (
	OSArchAMD64 OSArch = "amd64"
	OSArchARM64 OSArch = "arm64"
	OSArchARM   OSArch = "arm"
)

// Canonical returns the server's name of the architecture. A value that is not known is returned as it is.
func (a OSArch) Canonical() OSArch {
	switch a {
	case "x86_64", "x64":
		return OSArchAMD64
	case "aarch64":
		return OSArchARM64
	case "armv7l":
		return OSArchARM
	default:
		return a
	}
}

// PoolSpec is the desired state of a Pool.
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
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="providerName is immutable; delete the Pool and create it with the other provider"
	ProviderName string `json:"providerName"`

	// Most runners that the pool may have at one time, busy ones included. At least 1.
	// +kubebuilder:validation:Minimum=1
	MaxRunners int64 `json:"maxRunners"`

	// Number of idle runners that are kept ready for jobs. At most maxRunners; 0 makes runners only on demand. Also set
	// by the scale subresource.
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MinIdleRunners int64 `json:"minIdleRunners"`

	// Size of the machines, in the provider's terms, such as m1.small.
	// +kubebuilder:validation:MinLength=1
	Flavor string `json:"flavor"`

	// Operating system of the runners: linux or windows.
	OSType OSType `json:"osType"`

	// Architecture of the runners: amd64, arm64 or arm. The synonyms x86_64 and x64 (amd64), aarch64 (arm64) and armv7l
	// (arm) are accepted.
	OSArch OSArch `json:"osArch"`

	// Labels of the runners. A job runs here when each label in its runs-on is among them. Nothing is added by itself:
	// list "self-hosted" where jobs ask for it. At least one, such as [self-hosted, linux, small].
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MinLength=1
	Tags []string `json:"tags"`

	// Whether the pool makes new runners. A disabled pool keeps the runners it has.
	Enabled bool `json:"enabled"`

	// Minutes that a runner may take from its creation to its first contact with GitHub before it is replaced. At least
	// 1, at most 1048576 (two years); 20 is common.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1048576
	RunnerBootstrapTimeout int64 `json:"runnerBootstrapTimeout"`

	// Name of an Image in the same namespace. The Pool waits for it when it does not exist yet.
	// +kubebuilder:validation:MinLength=1
	ImageName string `json:"imageName"`

	// JSON text that is passed to the provider as it stands, such as {"disk_size": 40}; which keys count depends on the
	// provider. Absent, "" and "null" mean none. A bare number is refused, since GARM servers cannot store one.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches(r'^\\s*(\\{[\\s\\S]*\\}|\\[[\\s\\S]*\\]|\"[\\s\\S]*\"|true|false|null)\\s*$')",message="extraSpecs must be empty, null or JSON text such as {\"key\": \"value\"}; a bare number is not allowed"
	ExtraSpecs string `json:"extraSpecs,omitempty"`

	// Runner group at GitHub that the runners join, for pools of organizations and enterprises. Empty means the default
	// group.
	// +optional
	GitHubRunnerGroup string `json:"githubRunnerGroup,omitempty"`

	// Beginning of the names of the runners, before a dash and what the GARM server draws. Empty means "garm".
	// +optional
	RunnerPrefix string `json:"runnerPrefix,omitempty"`

	// Rank among the pools of the scope that could run a job: the pool with the highest priority is tried first. Left out,
	// whatever the GARM server has stays; new pools get 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Priority *int64 `json:"priority,omitempty"`

	// Whether idle runners that were made before the last change of the image, the flavor, the operating system, the
	// architecture, the runner group or the extra specs are replaced. They are replaced one at a time, each once the one
	// before has its successor; a busy runner is never touched. A change made while this is false counts only on GARM
	// servers from v0.2 on, which keep account of it.
	// +optional
	RotateOutdatedRunners bool `json:"rotateOutdatedRunners,omitempty"`

	// What becomes of the pool at the GARM server when this resource is deleted: "Delete" deletes it there, too; "Orphan"
	// leaves it there as it is. With Orphan the pool
	// keeps working, and its runners stay. Left out, it means Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
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

	// Labels that a job can match, as the GARM server reports them.
	// +optional
	Tags []string `json:"tags,omitempty"`

	// Id (UUID) of the GARM controller that drew the id. An id counts only at that controller.
	// +optional
	ControllerID string `json:"controllerId,omitempty"`

	// State of the pool, as the GARM server counts it, in which its extra specs were last known to be as wanted. Empty
	// where the server counts nothing (v0.1.5). After a restart only pools are read one by one that have another.
	// +optional
	Revision string `json:"revision,omitempty"`

	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, ImageReference, ScopeReference; Reconciling, Stalled and Paused while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Pool is a group of runners of one shape that serve one Enterprise, Organization or Repository.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
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
