package garm

import "time"

// InstanceStatus is the state of the machine behind a runner.
type InstanceStatus string

// Instance states. The server sets all but running, stopped, error and unknown, which a provider may answer.
const (
	InstancePendingCreate      InstanceStatus = "pending_create"
	InstanceCreating           InstanceStatus = "creating"
	InstanceRunning            InstanceStatus = "running"
	InstanceStopped            InstanceStatus = "stopped"
	InstanceError              InstanceStatus = "error"
	InstanceUnknown            InstanceStatus = "unknown"
	InstancePendingDelete      InstanceStatus = "pending_delete"
	InstancePendingForceDelete InstanceStatus = "pending_force_delete"
	InstanceDeleting           InstanceStatus = "deleting"
	InstanceDeleted            InstanceStatus = "deleted"
)

// RunnerStatus is the state of the GitHub runner that runs on an instance.
type RunnerStatus string

// Runner states. Offline, online and unknown exist since v0.2.
const (
	RunnerPending    RunnerStatus = "pending"
	RunnerInstalling RunnerStatus = "installing"
	RunnerIdle       RunnerStatus = "idle"
	RunnerActive     RunnerStatus = "active"
	RunnerFailed     RunnerStatus = "failed"
	RunnerTerminated RunnerStatus = "terminated"
	RunnerOffline    RunnerStatus = "offline"
	RunnerOnline     RunnerStatus = "online"
	RunnerUnknown    RunnerStatus = "unknown"
)

// Address is a network address of an instance. Type is "public" or "private".
type Address struct {
	Address string `json:"address"`
	Type    string `json:"type"`
}

// StatusMessage is something that happened to an instance. EventType is "status" or "fetchToken", EventLevel "info",
// "warning" or "error".
type StatusMessage struct {
	CreatedAt  time.Time `json:"created_at"`
	Message    string    `json:"message"`
	EventType  string    `json:"event_type"`
	EventLevel string    `json:"event_level"`
}

// Instance is a machine that runs one GitHub runner.
type Instance struct {
	ID string `json:"id"`
	// ProviderID is what the provider calls the machine; empty until it exists.
	ProviderID string `json:"provider_id"`
	// AgentID is GitHub's id of the runner; 0 until it is known.
	AgentID   int64  `json:"agent_id"`
	Name      string `json:"name"`
	OSType    string `json:"os_type"`
	OSName    string `json:"os_name"`
	OSVersion string `json:"os_version"`
	OSArch    string `json:"os_arch"`
	// Addresses and StatusMessages are filled only by GET of one instance.
	Addresses      []Address       `json:"addresses,omitempty"`
	Status         InstanceStatus  `json:"status"`
	RunnerStatus   RunnerStatus    `json:"runner_status"`
	PoolID         string          `json:"pool_id"`
	ProviderFault  []byte          `json:"provider_fault,omitempty"`
	StatusMessages []StatusMessage `json:"status_messages,omitempty"`
	// CreatedAt exists since v0.1.6; before it is zero.
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	RunnerGroup string    `json:"github-runner-group"`
	Job         *Job      `json:"job,omitempty"`

	// The fields below exist since v0.2.
	ProviderName string       `json:"provider_name"`
	ScaleSetID   uint         `json:"scale_set_id,omitempty"`
	Heartbeat    time.Time    `json:"heartbeat"`
	Capabilities Capabilities `json:"capabilities"`
	// Generation is the pool's generation that the instance was made from.
	Generation uint64 `json:"generation"`
}

// Capabilities says what the agent on an instance can do.
type Capabilities struct {
	HasShell bool `json:"has_shell"`
}
