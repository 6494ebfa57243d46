package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PoolBalancerType says how jobs are spread over the pools that could run them.
//
// +kubebuilder:validation:Enum="";roundrobin;pack
type PoolBalancerType string

// The balancer types. The server takes the empty one for roundrobin.
const (
	// PoolBalancerTypeDefault leaves the choice to the server.
	PoolBalancerTypeDefault PoolBalancerType = ""
	// PoolBalancerTypeRoundRobin takes the pools in turn.
	PoolBalancerTypeRoundRobin PoolBalancerType = "roundrobin"
	// PoolBalancerTypePack fills one pool before it uses the next.
	PoolBalancerTypePack PoolBalancerType = "pack"
)

// EntityStatus is the observed state of an Enterprise, Organization or Repository.
type EntityStatus struct {
	// Id (UUID) of the entity at the GARM server. Empty until it is known.
	ID string `json:"id"`

	// Name of the entity at the GARM server, of a repository without its owner. Where spec.name has been lost, it may be
	// set to this one again.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// Name of the GARM endpoint that the entity belongs to. Deletion finds the entity with it when the credential is
	// already gone.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Id (UUID) of the GARM controller that drew the id. An id counts only at that controller.
	// +optional
	ControllerID string `json:"controllerId,omitempty"`

	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, PoolManager, WebhookSecretReference, GithubCredentialsReference; Webhook where spec.webhook is
	// set; Reconciling, Stalled and Paused while they hold.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
