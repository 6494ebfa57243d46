package garm

import "encoding/json"

// EntityType names the kind of object that an event is about.
type EntityType string

// Kinds of object on the event stream of all releases.
const (
	EntityTypeRepository   EntityType = "repository"
	EntityTypeOrganization EntityType = "organization"
	EntityTypeEnterprise   EntityType = "enterprise"
	EntityTypePool         EntityType = "pool"
	EntityTypeUser         EntityType = "user"
	EntityTypeInstance     EntityType = "instance"
	EntityTypeJob          EntityType = "job"
	EntityTypeController   EntityType = "controller"
	EntityTypeCredentials  EntityType = "github_credentials"
	EntityTypeEndpoint     EntityType = "github_endpoint"
)

// Operation is what happened to an object.
type Operation string

// Operations on the event stream.
const (
	OperationCreate Operation = "create"
	OperationUpdate Operation = "update"
	OperationDelete Operation = "delete"
)

// Event is one message of the event stream, /ws/events. The payload is the JSON of the object as REST shows it; of a
// deleted object it carries at least the id or the name.
type Event struct {
	EntityType EntityType      `json:"entity-type"`
	Operation  Operation       `json:"operation"`
	Payload    json.RawMessage `json:"payload"`
}

// EventFilter is the frame that a client sends to choose its events. Nothing is sent before it; a new one replaces the
// old.
type EventFilter struct {
	SendEverything bool          `json:"send-everything"`
	Filters        []EventClause `json:"filters,omitempty"`
}

// EventClause selects the events of one kind of object. No operations means all.
type EventClause struct {
	EntityType EntityType  `json:"entity-type"`
	Operations []Operation `json:"operations,omitempty"`
}
