package model

import "time"

// EntityKind says what a runner is registered with.
type EntityKind string

// Entity kinds.
const (
	KindRepository   EntityKind = "repository"
	KindOrganization EntityKind = "organization"
	KindEnterprise   EntityKind = "enterprise"
)

// Balancer says how queued jobs are spread over the pools of an entity that match.
type Balancer string

// Balancers. An empty value means BalanceRoundRobin.
const (
	BalanceRoundRobin Balancer = "roundrobin"
	BalancePack       Balancer = "pack"
)

// Entity is a repository, organization or enterprise that has pools. Its webhook secret is kept sealed and apart.
type Entity struct {
	ID   EntityID
	Kind EntityKind
	// Owner is set for repositories only.
	Owner       string
	Name        string
	Credentials Credentials
	Balancer    Balancer
	AgentMode   bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Endpoint is where the entity lives: that of its credentials.
func (e Entity) Endpoint() Endpoint { return e.Credentials.Endpoint }

// FullName is owner/name for a repository and the name else.
func (e Entity) FullName() string {
	if e.Kind == KindRepository {
		return e.Owner + "/" + e.Name
	}
	return e.Name
}

// EntityEvent is something that happened to an entity, for users to read.
type EntityEvent struct {
	ID        uint
	CreatedAt time.Time
	Level     EventLevel
	Message   string
}

// EntityHealth says whether the fleet engine works on the pools of an entity, and if not, why. It is not stored: it is
// what the engine saw last.
type EntityHealth struct {
	Running       bool
	FailureReason string
}

// EventLevel grades a message.
type EventLevel string

// Event levels.
const (
	LevelInfo    EventLevel = "info"
	LevelWarning EventLevel = "warning"
	LevelError   EventLevel = "error"
)
