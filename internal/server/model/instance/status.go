package instance

import (
	"slices"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Actor is who wants to change a state.
type Actor string

// Actors.
const (
	// Engine is the fleet engine, for its own decisions.
	Engine Actor = "engine"
	// Provider is the answer of a provider, which the engine writes down.
	Provider Actor = "provider"
	// User is a request of the API.
	User Actor = "user"
	// Forge is a webhook, or what the forge says when it is asked.
	Forge Actor = "forge"
	// Runner is a callback of the machine.
	Runner Actor = "runner"
)

type change[S ~string] struct{ from, to S }

type table[S ~string] map[change[S]][]Actor

const (
	pendingCreate = model.InstancePendingCreate
	creating      = model.InstanceCreating
	running       = model.InstanceRunning
	stopped       = model.InstanceStopped
	failed        = model.InstanceError
	unknown       = model.InstanceUnknown
	pendingDelete = model.InstancePendingDelete
	pendingForce  = model.InstancePendingForceDelete
	deleting      = model.InstanceDeleting
	deleted       = model.InstanceDeleted
)

// statusTable lists every legal change of the machine state. creating is left by a provider's answer, by the engine after
// a failure or a crash, and by the forge, whose runner can be done before the provider has answered.
var statusTable = table[model.InstanceStatus]{
	{pendingCreate, creating}:      {Engine},
	{pendingCreate, pendingDelete}: {Engine, Forge},

	{creating, running}:       {Provider},
	{creating, stopped}:       {Provider},
	{creating, unknown}:       {Provider},
	{creating, failed}:        {Provider, Engine},
	{creating, pendingDelete}: {Engine, Forge},

	{running, pendingDelete}: {Engine, Forge, User},
	{running, pendingForce}:  {User},
	{stopped, pendingDelete}: {Engine, Forge, User},
	{stopped, pendingForce}:  {User},
	{unknown, pendingDelete}: {Engine, Forge, User},
	{unknown, pendingForce}:  {User},

	{failed, pendingCreate}: {Engine},
	{failed, pendingDelete}: {Engine, Forge, User},
	{failed, pendingForce}:  {User},

	{pendingDelete, pendingForce}: {User},
	{pendingDelete, deleting}:     {Engine},
	{pendingForce, deleting}:      {Engine},

	{deleting, pendingDelete}: {Engine},
	{deleting, pendingForce}:  {Engine},
	{deleting, deleted}:       {Engine},
}

// CheckStatus says whether by may change the machine state. Staying where one is, is always legal. The error is of kind
// model.KindInvalid.
func CheckStatus(by Actor, from, to model.InstanceStatus) error {
	if statusTable.allows(by, from, to) {
		return nil
	}
	return model.Invalid("an instance in status %s cannot become %s", from, to)
}

func (t table[S]) allows(by Actor, from, to S) bool {
	return from == to || slices.Contains(t[change[S]{from, to}], by)
}

// SetStatus changes the machine state of i for by, or returns the error of CheckStatus and changes nothing.
func SetStatus(i *model.Instance, by Actor, to model.InstanceStatus) error {
	if err := CheckStatus(by, i.Status, to); err != nil {
		return err
	}
	i.Status = to
	return nil
}

// Leaving says that the instance is on its way out: it will do no more work.
func Leaving(s model.InstanceStatus) bool {
	switch s {
	case pendingDelete, pendingForce, deleting, deleted:
		return true
	}
	return false
}

// Deletable says whether a user may ask for the deletion of an instance in this state.
func Deletable(s model.InstanceStatus) bool {
	return s == pendingForce || CheckStatus(User, s, pendingDelete) == nil
}
