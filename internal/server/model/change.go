package model

// Operation is what happened to an object.
type Operation string

// Operations.
const (
	OpCreate Operation = "create"
	OpUpdate Operation = "update"
	OpDelete Operation = "delete"
)

// Change is one committed change of the store. Object is the value after the change (before it, for OpDelete): a
// Controller, Endpoint, Credentials, Entity, Pool, Instance or Job.
type Change struct {
	Operation Operation
	Object    any
}

// Feed passes committed changes on, in the order of their commits. Publish must not block and must not lose a change: a
// reader that falls too far behind is told to read everything anew.
type Feed interface {
	Publish(changes ...Change)
}
