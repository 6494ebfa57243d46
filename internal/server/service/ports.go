package service

import (
	"context"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Store is what the use cases need of the database. A missing object is an error of kind model.KindNotFound; methods
// that take a function change a row by it in one transaction, write nothing where it changes nothing, and return its
// error as it is.
type Store interface {
	Controller(ctx context.Context) (model.Controller, error)
	UpdateController(ctx context.Context, update func(*model.Controller) error) (model.Controller, error)

	HasAdmin(ctx context.Context) (bool, error)
	CreateAdmin(ctx context.Context, user model.User) (model.User, error)
	User(ctx context.Context, id model.UserID) (model.User, error)
	UserByLogin(ctx context.Context, login string) (model.User, error)

	Endpoints(ctx context.Context) ([]model.Endpoint, error)
	Endpoint(ctx context.Context, name model.EndpointName) (model.Endpoint, error)
	CreateEndpoint(ctx context.Context, endpoint model.Endpoint) (model.Endpoint, error)
	UpdateEndpoint(ctx context.Context, name model.EndpointName, update func(e *model.Endpoint, inUse bool) error) (model.Endpoint, error)
	DeleteEndpoint(ctx context.Context, name model.EndpointName) error

	AllCredentials(ctx context.Context) ([]model.Credentials, error)
	Credentials(ctx context.Context, id model.CredentialsID) (model.Credentials, error)
	CredentialsByName(ctx context.Context, name string, forge model.ForgeType) (model.Credentials, error)
	CreateCredentials(ctx context.Context, credentials model.Credentials, secret model.ForgeSecret) (model.Credentials, error)
	UpdateCredentials(ctx context.Context, id model.CredentialsID, update func(*model.Credentials, *model.ForgeSecret) error) (model.Credentials, error)
	DeleteCredentials(ctx context.Context, id model.CredentialsID) error

	EntitiesOfKind(ctx context.Context, kind model.EntityKind) ([]model.Entity, error)
	EntitiesOfCredentials(ctx context.Context, id model.CredentialsID) ([]model.Entity, error)
	Entity(ctx context.Context, id model.EntityID) (model.Entity, error)
	EntityEvents(ctx context.Context, id model.EntityID) ([]model.EntityEvent, error)
	AddEntityEvent(ctx context.Context, id model.EntityID, level model.EventLevel, message string) error
	WebhookState(ctx context.Context, id model.EntityID) (model.WebhookState, error)
	UpdateWebhookState(ctx context.Context, id model.EntityID, update func(*model.WebhookState) error) error
	// EntitiesWithOldSecrets returns the entities of which model.WebhookState.Old is not empty.
	EntitiesWithOldSecrets(ctx context.Context) ([]model.Entity, error)
	CreateEntity(ctx context.Context, entity model.Entity, webhookSecret []byte) (model.Entity, error)
	UpdateEntity(ctx context.Context, id model.EntityID, update func(e *model.Entity, webhook *model.WebhookState) error) (model.Entity, error)
	DeleteEntity(ctx context.Context, id model.EntityID) error

	Pools(ctx context.Context) ([]model.Pool, error)
	PoolsOfEntity(ctx context.Context, id model.EntityID) ([]model.Pool, error)
	Pool(ctx context.Context, id model.PoolID) (model.Pool, error)
	CreatePool(ctx context.Context, pool model.Pool) (model.Pool, error)
	UpdatePool(ctx context.Context, id model.PoolID, update func(*model.Pool) error) (model.Pool, error)
	DeletePool(ctx context.Context, id model.PoolID) error

	Instances(ctx context.Context) ([]model.Instance, error)
	InstancesOfEntity(ctx context.Context, id model.EntityID) ([]model.Instance, error)
	InstancesOfPool(ctx context.Context, id model.PoolID) ([]model.Instance, error)
	Instance(ctx context.Context, id model.InstanceID) (model.Instance, error)
	InstanceByName(ctx context.Context, name string) (model.Instance, error)
	InstanceMessages(ctx context.Context, id model.InstanceID) ([]model.InstanceMessage, error)
	AddInstanceMessage(ctx context.Context, id model.InstanceID, message model.InstanceMessage) error
	UpdateInstance(ctx context.Context, id model.InstanceID, update func(*model.Instance) error) (model.Instance, error)
	JITConfig(ctx context.Context, id model.InstanceID) (model.JITConfig, error)

	Jobs(ctx context.Context) ([]model.Job, error)
	JobOfInstance(ctx context.Context, id model.InstanceID) (model.Job, error)
}

// Engine is the part of the fleet engine that a use case can ask for. What the engine has to do otherwise it learns from
// the change feed.
type Engine interface {
	// Health is what the engine saw last of an entity.
	Health(id model.EntityID) model.EntityHealth
	// DeleteInstance removes the runner from the forge and marks its instance for deletion; the machine goes later. force
	// lets it go even if the provider fails, bypassUnauthorized even if the forge refuses the credentials.
	DeleteInstance(ctx context.Context, id model.InstanceID, force, bypassUnauthorized bool) error
}

// Forges answers what use cases ask a forge.
type Forges interface {
	// RegistrationToken returns a token by which a runner of the entity can register.
	RegistrationToken(ctx context.Context, entity model.Entity) (token string, expires time.Time, err error)
	// Tools returns the address of the entity for people, and the runner programs that its forge offers.
	Tools(ctx context.Context, entity model.Entity) (url string, tools []Tool, err error)
	// Webhooks returns the webhooks of a repository or organization.
	Webhooks(ctx context.Context, entity model.Entity) (Webhooks, error)
}

// Webhooks are the webhooks of one entity at its forge. What the caller of a use case can mend, such as a permission that
// is missing, is an error of kind model.KindInvalid; what may pass is one of model.KindUpstream.
type Webhooks interface {
	List(ctx context.Context) ([]model.Webhook, error)
	// Install makes a webhook for the events of jobs. One that exists is an error of kind model.KindConflict.
	Install(ctx context.Context, config model.WebhookConfig) (model.Webhook, error)
	// Change makes a webhook what Install would make.
	Change(ctx context.Context, id int64, config model.WebhookConfig) (model.Webhook, error)
	// Remove removes a webhook. One that does not exist is no error.
	Remove(ctx context.Context, id int64) error
	// Ping makes the forge send an event by which it tries a webhook.
	Ping(ctx context.Context, id int64) error
}

// Provider describes a configured provider.
type Provider struct {
	Name        string
	Description string
}

// Tokens makes and reads users' tokens.
type Tokens interface {
	UserToken(user model.User) (string, error)
	MetricsToken() (string, error)
}
