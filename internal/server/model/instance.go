package model

import "time"

// InstanceStatus is the state of the machine behind a runner. Package instance holds the table of legal changes.
type InstanceStatus string

// Instance states.
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

// RunnerStatus is the state of the runner at the forge.
type RunnerStatus string

// Runner states.
const (
	RunnerPending    RunnerStatus = "pending"
	RunnerInstalling RunnerStatus = "installing"
	RunnerIdle       RunnerStatus = "idle"
	RunnerActive     RunnerStatus = "active"
	RunnerFailed     RunnerStatus = "failed"
	RunnerTerminated RunnerStatus = "terminated"
	RunnerOffline    RunnerStatus = "offline"
)

// Address is a network address of an instance.
type Address struct {
	Address string
	Type    string // "public" or "private"
}

// Instance is a row about one machine that runs one runner.
type Instance struct {
	ID         InstanceID
	Name       string
	PoolID     PoolID
	EntityID   EntityID
	EntityKind EntityKind
	// ProviderName is that of the pool.
	ProviderName string
	// ProviderID is what the provider calls the machine; empty until it exists.
	ProviderID    string
	ProviderFault []byte
	// AgentID is the forge's id of the runner; 0 until it is known.
	AgentID      int64
	OSType       OSType
	OSArch       OSArch
	OSName       string
	OSVersion    string
	Addresses    []Address
	Status       InstanceStatus
	RunnerStatus RunnerStatus
	RunnerGroup  string
	// Generation is the pool's when the instance was made.
	Generation uint64
	// CreateAttempt counts from 1. A token of an earlier attempt is void.
	CreateAttempt int
	// TokenFetched says that the registration token of this attempt has been delivered.
	TokenFetched bool
	// TokenFetchedAt is when it was first delivered.
	TokenFetchedAt time.Time
	// JIT says that the runner registers by a just-in-time configuration, kept sealed and apart.
	JIT bool
	// ForJob is the forge's id of the job that the runner was made for; 0 for an idle one.
	ForJob int64
	// DeletingFrom is the state that asked for the deletion that is under way: pending_delete or pending_force_delete.
	DeletingFrom InstanceStatus
	// RetryAt is when the next try of a failed create or delete is due; zero for at once.
	RetryAt time.Time
	// Failures counts the failed tries of the step that is under way.
	Failures  int
	CreatedAt time.Time
	// UpdatedAt moves with every change that users see.
	UpdatedAt time.Time
}

// InstanceMessage is something that happened to an instance, for users to read. Kind is "status" or "fetchToken".
type InstanceMessage struct {
	CreatedAt time.Time
	Kind      string
	Level     EventLevel
	Message   string
}

// JITConfig is a just-in-time runner configuration: file name (such as ".runner") to content. It is a secret.
type JITConfig map[string][]byte

// String keeps the content out of logs and error texts.
func (JITConfig) String() string { return "[redacted]" }

// GoString keeps the content out of logs and error texts.
func (JITConfig) GoString() string { return "[redacted]" }
