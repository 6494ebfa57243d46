package mirror

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Object is a Kubernetes resource that the engine can work with.
type Object interface {
	client.Object
	v1beta1.Conditioned
}

// Kind describes the resources of one kind to the engine. O is the resource, R what it stands for at the server.
type Kind[O Object, R any] struct {
	// Name is the kind, such as "Pool".
	Name string
	// Finalizer is set before anything is created; empty for kinds whose deletion changes nothing at the server.
	Finalizer string
	// New makes an empty resource.
	New func() O
	// Fit says whether the server can be worked with; nil means when it is ready.
	Fit func(remote.State) bool
	// Begin makes the actuator of one pass.
	Begin func(*Pass[O]) Actuator[R]
}

// Actuator does for one resource in one pass what only its kind knows. Its methods may be called in this order only, each
// at most once a pass but for Observe. Project changes the status, and Create where it leaves a trace for a later Gone.
type Actuator[R any] interface {
	// Resolve reads what the resource refers to. It is not called for a resource that is being deleted.
	Resolve(ctx context.Context) error
	// Recorded returns the id that the resource has recorded, where it counts at the present server; "" if there is none.
	Recorded() string
	// Observe returns the remote object, by the recorded id, then by its natural key, or nil. It MUST NOT change
	// anything. More than one match is terminal.
	Observe(ctx context.Context) (*R, error)
	// Gone asks the server whether the object that was observed last, or the recorded one, is gone. Where neither is
	// known, it looks for one that a create without an answer may have made. Only the server's word counts.
	Gone(ctx context.Context) (bool, error)
	// Create makes exactly one remote object. The call that makes it MUST be the last thing that can fail.
	Create(ctx context.Context) (*R, error)
	// Diff returns the names of the fields that differ, in a fixed order. It is pure.
	Diff(r *R) []string
	// Update changes the fields, and returns the remote object as the server then shows it.
	Update(ctx context.Context, r *R, fields []string) (*R, error)
	// Delete asks the server to delete the object. The engine then observes until it is gone.
	Delete(ctx context.Context, r *R) error
	// Project writes what is known of the remote object into the status. It is pure.
	Project(r *R)
}

// Owned is an Actuator of a kind where two resources may stand for one remote object.
type Owned interface {
	// Owner returns a terminal outcome that names the owner, if that is another resource.
	Owner(ctx context.Context) error
}

// Guarded is an Actuator of a kind that others refer to.
type Guarded interface {
	// Guard returns a waiting outcome for as long as something still needs the remote object.
	Guard(ctx context.Context) error
}

// Drained is an Actuator of a kind that has to be emptied before it can be deleted.
type Drained[R any] interface {
	// Drain brings the remote object closer to being empty, and returns a waiting outcome until it is.
	Drain(ctx context.Context, r *R) error
}

// Attended is an Actuator of a kind that needs care once both sides agree.
type Attended[R any] interface {
	// Attend does what is due. It may return an outcome of any class: Later asks for another look, Degrade says that the
	// remote object does not work.
	Attend(ctx context.Context, r *R) error
}

// Prepared is an Actuator of a kind whose remote object needs a look at details before it can be compared.
type Prepared[R any] interface {
	// Prepare reads what Diff needs and the view does not show.
	Prepare(ctx context.Context, r *R) (*R, error)
}

// Lenient is an Actuator of a kind to whose remote objects a server may add something of its own.
type Lenient[R any] interface {
	// Bears says whether what the server shows otherwise after an update is no fault: it has what is wanted in these fields,
	// and more. It is pure.
	Bears(r *R, fields []string) bool
}

// Retained is an Actuator of a kind with remote objects that the server does not let go.
type Retained interface {
	// Retain says that deletion releases the remote object only.
	Retain() bool
}

// Informed is an Actuator of a kind that wants something of its remote object that its spec only refers to.
type Informed interface {
	// Inputs identifies what the references hold, without telling anything of secrets. It is called after Resolve.
	Inputs() string
}
