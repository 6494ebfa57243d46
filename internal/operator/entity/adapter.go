package entity

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Spec is what the specs of all three kinds hold.
type Spec struct {
	// Owner is empty but for repositories.
	Owner          string
	Name           string
	CredentialsRef v1beta1.TypedLocalObjectReference
	WebhookSecret  v1beta1.SecretRef
	Balancer       v1beta1.PoolBalancerType
	// Webhook is nil for enterprises, whose webhooks no server manages.
	Webhook *v1beta1.WebhookSpec
}

// Adapter tells what differs between the kinds. O is the resource, R the remote object.
type Adapter[O mirror.Object, R any] struct {
	// Name is the kind, both as a resource and at the server.
	Name      string
	Remote    remote.Kind
	Finalizer string
	Component string
	New       func() O
	NewList   func() client.ObjectList
	Items     func(client.ObjectList) []O
	Spec      func(O) Spec
	Status    func(O) *v1beta1.EntityStatus
	ByID      func(v *remote.View, id string) (R, bool, bool)
	ByKey     func(v *remote.View, endpoint string, spec Spec) ([]R, bool)
	Entity    func(*R) *garm.Entity
	// RepoOwner is empty but for repositories.
	RepoOwner  func(*R) string
	Create     func(ctx context.Context, w *remote.Writer, params garm.CreateEntityParams) (R, error)
	Update     func(ctx context.Context, w *remote.Writer, id string, params garm.UpdateEntityParams) (R, error)
	Delete     func(ctx context.Context, w *remote.Writer, id string) error
	Concurrent int
}
