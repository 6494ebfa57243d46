package remote

import (
	"context"

	"github.com/garm-operator/garm-operator/garm"
)

// Client is what a session needs from a GARM client. Calls log in as needed, one login at a time, and fail with a
// *garm.Error. Every call has a deadline of its own.
type Client interface {
	Reader
	Mutator
	// Events opens the event stream and sends the filter.
	Events(ctx context.Context, filter garm.EventFilter) (EventStream, error)
}

// EventStream is an open event stream.
type EventStream interface {
	// Next waits for the next event. Any error ends the stream; a peer that no longer answers is found by ping.
	Next(ctx context.Context) (garm.Event, error)
	// Close ends the stream.
	Close() error
}

// Reader is the reading half of a Client.
type Reader interface {
	// GetController answers before the server's URLs are set, too.
	GetController(ctx context.Context) (garm.ControllerInfo, error)
	ListProviders(ctx context.Context) ([]garm.Provider, error)

	ListEndpoints(ctx context.Context) ([]garm.Endpoint, error)
	GetEndpoint(ctx context.Context, name string) (garm.Endpoint, error)
	ListCredentials(ctx context.Context) ([]garm.Credentials, error)
	GetCredentials(ctx context.Context, id uint) (garm.Credentials, error)
	ListRepositories(ctx context.Context) ([]garm.Repository, error)
	GetRepository(ctx context.Context, id string) (garm.Repository, error)
	ListOrganizations(ctx context.Context) ([]garm.Organization, error)
	GetOrganization(ctx context.Context, id string) (garm.Organization, error)
	GetRepositoryWebhook(ctx context.Context, id string) (garm.HookInfo, error)
	GetOrganizationWebhook(ctx context.Context, id string) (garm.HookInfo, error)
	ListEnterprises(ctx context.Context) ([]garm.Enterprise, error)
	GetEnterprise(ctx context.Context, id string) (garm.Enterprise, error)
	ListPools(ctx context.Context) ([]garm.Pool, error)
	GetPool(ctx context.Context, id string) (garm.Pool, error)
	ListInstances(ctx context.Context) ([]garm.Instance, error)
	GetInstance(ctx context.Context, name string) (garm.Instance, error)
}

// Mutator is the writing half of a Client.
type Mutator interface {
	UpdateController(ctx context.Context, params garm.UpdateControllerParams) (garm.ControllerInfo, error)

	CreateEndpoint(ctx context.Context, params garm.CreateEndpointParams) (garm.Endpoint, error)
	UpdateEndpoint(ctx context.Context, name string, params garm.UpdateEndpointParams) (garm.Endpoint, error)
	DeleteEndpoint(ctx context.Context, name string) error

	CreateCredentials(ctx context.Context, params garm.CreateCredentialsParams) (garm.Credentials, error)
	UpdateCredentials(ctx context.Context, id uint, params garm.UpdateCredentialsParams) (garm.Credentials, error)
	DeleteCredentials(ctx context.Context, id uint) error

	CreateRepository(ctx context.Context, params garm.CreateEntityParams) (garm.Repository, error)
	UpdateRepository(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Repository, error)
	DeleteRepository(ctx context.Context, id string) error

	CreateOrganization(ctx context.Context, params garm.CreateEntityParams) (garm.Organization, error)
	UpdateOrganization(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Organization, error)
	DeleteOrganization(ctx context.Context, id string) error

	InstallRepositoryWebhook(ctx context.Context, id string, params garm.InstallWebhookParams) (garm.HookInfo, error)
	UninstallRepositoryWebhook(ctx context.Context, id string) error
	InstallOrganizationWebhook(ctx context.Context, id string, params garm.InstallWebhookParams) (garm.HookInfo, error)
	UninstallOrganizationWebhook(ctx context.Context, id string) error

	CreateEnterprise(ctx context.Context, params garm.CreateEntityParams) (garm.Enterprise, error)
	UpdateEnterprise(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Enterprise, error)
	DeleteEnterprise(ctx context.Context, id string) error

	CreateRepositoryPool(ctx context.Context, repoID string, params garm.CreatePoolParams) (garm.Pool, error)
	CreateOrganizationPool(ctx context.Context, orgID string, params garm.CreatePoolParams) (garm.Pool, error)
	CreateEnterprisePool(ctx context.Context, enterpriseID string, params garm.CreatePoolParams) (garm.Pool, error)
	UpdatePool(ctx context.Context, id string, params garm.UpdatePoolParams) (garm.Pool, error)
	DeletePool(ctx context.Context, id string) error

	// DeleteInstance asks the server to remove an instance; the removal itself happens later. Force goes on
	// although GitHub refuses the credentials, the pool manager is down, or the provider fails.
	DeleteInstance(ctx context.Context, name string, force bool) error
}
