package garm

import "time"

// Pool balancer types: how queued jobs are spread over the pools of an entity that match. An empty value means
// BalancerRoundRobin.
const (
	BalancerRoundRobin = "roundrobin"
	BalancerPack       = "pack"
)

// PoolManagerStatus says whether the server works on the pools of an entity, and if not, why.
type PoolManagerStatus struct {
	Running       bool   `json:"running"`
	FailureReason string `json:"failure_reason,omitempty"`
}

// Entity is what repositories, organizations and enterprises have in common.
type Entity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Pools is filled only by GET of one entity.
	Pools             []Pool            `json:"pool,omitempty"`
	CredentialsName   string            `json:"credentials_name"`
	CredentialsID     uint              `json:"credentials_id"`
	Credentials       Credentials       `json:"credentials"`
	PoolManagerStatus PoolManagerStatus `json:"pool_manager_status"`
	// PoolBalancerType reads "pool_balancing_type" in answers; requests say "pool_balancer_type".
	PoolBalancerType string    `json:"pool_balancing_type"`
	Endpoint         Endpoint  `json:"endpoint"`
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
	// AgentMode and Events exist since v0.2.
	AgentMode bool          `json:"agent_mode"`
	Events    []EntityEvent `json:"events,omitempty"`
}

// Repository is a GitHub repository that has pools.
type Repository struct {
	Owner string `json:"owner"`
	Entity
}

// Organization is a GitHub organization that has pools.
type Organization struct {
	Entity
}

// Enterprise is a GitHub enterprise that has pools.
type Enterprise struct {
	Entity
}

// EntityEvent is something that happened to an entity; it exists since v0.2.
type EntityEvent struct {
	ID         uint      `json:"id"`
	CreatedAt  time.Time `json:"created_at"`
	EventType  string    `json:"event_type"`
	EventLevel string    `json:"event_level"`
	Message    string    `json:"message"`
}

// CreateEntityParams is the body of POST /repositories, /organizations and /enterprises. Owner is for repositories.
type CreateEntityParams struct {
	Owner            string `json:"owner,omitempty"`
	Name             string `json:"name"`
	CredentialsName  string `json:"credentials_name"`
	WebhookSecret    string `json:"webhook_secret"`
	PoolBalancerType string `json:"pool_balancer_type,omitempty"`
	// ForgeType and AgentMode are read since v0.2.
	ForgeType string `json:"forge_type,omitempty"`
	AgentMode bool   `json:"agent_mode,omitempty"`
}

// UpdateEntityParams is the body of PUT on an entity. An empty field stays as it is.
type UpdateEntityParams struct {
	CredentialsName  string `json:"credentials_name,omitempty"`
	WebhookSecret    string `json:"webhook_secret,omitempty"`
	PoolBalancerType string `json:"pool_balancer_type,omitempty"`
	AgentMode        *bool  `json:"agent_mode,omitempty"`
}

// String keeps the secret out of logs and error texts.
func (CreateEntityParams) String() string { return "[redacted]" }

// GoString keeps the secret out of logs and error texts.
func (CreateEntityParams) GoString() string { return "[redacted]" }

// String keeps the secret out of logs and error texts.
func (UpdateEntityParams) String() string { return "[redacted]" }

// GoString keeps the secret out of logs and error texts.
func (UpdateEntityParams) GoString() string { return "[redacted]" }
