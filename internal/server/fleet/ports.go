package fleet

import (
	"context"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Store is what the engine needs of the database. Methods that change something are one transaction each, and their
// changes reach the feed in the order of the commits. A missing object is an error of kind model.KindNotFound.
type Store interface {
	Controller(ctx context.Context) (model.Controller, error)

	Entities(ctx context.Context) ([]model.Entity, error)
	Entity(ctx context.Context, id model.EntityID) (model.Entity, error)
	// ForgeSecret opens the sealed secret of credentials.
	ForgeSecret(ctx context.Context, id model.CredentialsID) (model.ForgeSecret, error)
	// AddEntityEvent appends to the bounded history of an entity.
	AddEntityEvent(ctx context.Context, id model.EntityID, level model.EventLevel, message string) error

	Pools(ctx context.Context) ([]model.Pool, error)
	PoolsOfEntity(ctx context.Context, id model.EntityID) ([]model.Pool, error)
	Pool(ctx context.Context, id model.PoolID) (model.Pool, error)

	Instances(ctx context.Context) ([]model.Instance, error)
	InstancesOfEntity(ctx context.Context, id model.EntityID) ([]model.Instance, error)
	InstancesOfPool(ctx context.Context, id model.PoolID) ([]model.Instance, error)
	Instance(ctx context.Context, id model.InstanceID) (model.Instance, error)
	InstanceByName(ctx context.Context, name string) (model.Instance, error)

	// ReserveInstances inserts the rows that plan returns, in the transaction in which pool and its rows were read, so
	// that two callers cannot both take the last slot. plan is pure: it may run more than once. It returns the rows.
	ReserveInstances(ctx context.Context, id model.PoolID, plan func(pool model.Pool, rows []model.Instance) []model.Instance) ([]model.Instance, error)
	// UpdateInstance changes a row by update in one transaction: compare-and-set is for update to do, by an error, which
	// is returned as it is and leaves the row alone. Where update changes nothing, nothing is written. UpdatedAt is set
	// by the store.
	UpdateInstance(ctx context.Context, id model.InstanceID, update func(*model.Instance) error) (model.Instance, error)
	// DeleteInstance removes a row with everything that hangs on it. A missing row is no error.
	DeleteInstance(ctx context.Context, id model.InstanceID) error
	// AddInstanceMessage appends to the bounded history of an instance.
	AddInstanceMessage(ctx context.Context, id model.InstanceID, message model.InstanceMessage) error
	// SetJITConfig seals and keeps the just-in-time configuration of an instance, and marks the row (JIT, AgentID).
	SetJITConfig(ctx context.Context, id model.InstanceID, agentID int64, config model.JITConfig) (model.Instance, error)

	// QueuedJobs are the jobs of an entity that wait for a runner, the oldest first.
	QueuedJobs(ctx context.Context, id model.EntityID) ([]model.Job, error)
	// UpdateJob works like UpdateInstance.
	UpdateJob(ctx context.Context, id model.JobID, update func(*model.Job) error) (model.Job, error)
	DeleteJob(ctx context.Context, id model.JobID) error
}

// Forge is an entity as its forge shows it. Errors are of type *ForgeError.
type Forge interface {
	// Tools lists the runner programs that the forge offers for download.
	Tools(ctx context.Context) ([]Tool, error)
	// Runners lists all runners of the entity, ours and others.
	Runners(ctx context.Context) ([]Runner, error)
	// Runner returns one runner by the forge's id.
	Runner(ctx context.Context, id int64) (Runner, error)
	// RemoveRunner removes a runner. One that does not exist is no error; one that runs a job is ForgeBusy.
	RemoveRunner(ctx context.Context, id int64) error
	// JITConfig registers a runner and returns its configuration. An empty group is the default group.
	JITConfig(ctx context.Context, name, group string, labels []string) (Runner, model.JITConfig, error)
	// RegistrationToken returns a token by which a runner can register.
	RegistrationToken(ctx context.Context) (token string, expires time.Time, err error)
	// URL is the address of the entity for people, to which a runner registers.
	URL() string
}

// Forges makes the Forge of an entity. A Forge is cheap to get: clients are kept, and made anew when the endpoint or
// the revision of the credentials changed.
type Forges interface {
	Forge(ctx context.Context, entity model.Entity) (Forge, error)
}

// Runner is a runner at the forge.
type Runner struct {
	ID     int64
	Name   string
	Online bool
	Busy   bool
	Labels []string
}

// Tool is a runner program for one platform, in the forge's words (linux, win, osx; x64, arm64, arm).
type Tool struct {
	OS           string
	Architecture string
	DownloadURL  string
	Filename     string
	SHA256       string
	// TempToken is set where the download needs it.
	TempToken string
}

// ForgeErrorKind says what the engine can do about a failed call to the forge.
type ForgeErrorKind int

// Forge error kinds.
const (
	// ForgeUnavailable: no answer, 5xx, or one that cannot be read. What the forge did is not known.
	ForgeUnavailable ForgeErrorKind = iota
	// ForgeUnauthorized: 401, or 403 without a rate limit.
	ForgeUnauthorized
	// ForgeNotFound: 404.
	ForgeNotFound
	// ForgeBusy: 422 on the removal of a runner that runs a job.
	ForgeBusy
	// ForgeConflict: 409, such as a runner name that is taken.
	ForgeConflict
	// ForgeInvalid: any other 4xx.
	ForgeInvalid
	// ForgeRateLimited: a primary or secondary rate limit; ForgeError.Until says until when.
	ForgeRateLimited
)

// ForgeError is a failed call to a forge. Its text holds no secret.
type ForgeError struct {
	Kind  ForgeErrorKind
	Op    string
	Until time.Time
	Err   error
}

func (e *ForgeError) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *ForgeError) Unwrap() error { return e.Err }

// Provider makes and removes the machines of one configured provider. Errors are of type *ProviderError.
type Provider interface {
	// Create makes the machine of an instance. The answer's status is running, stopped, error or unknown.
	Create(ctx context.Context, pool model.Pool, bootstrap Bootstrap) (Machine, error)
	// Delete removes a machine by the provider's id, or by the instance's name where that is not known. A machine that
	// does not exist is no error.
	Delete(ctx context.Context, pool model.Pool, id string) error
	// List returns the machines of a pool.
	List(ctx context.Context, pool model.Pool) ([]Machine, error)
	// DisablesJIT says that the provider is configured to register runners by token.
	DisablesJIT() bool
}

// Providers finds a configured provider by name.
type Providers interface {
	Provider(name string) (Provider, bool)
}

// Machine is a provider's answer about one machine.
type Machine struct {
	ProviderID string
	Name       string
	OSType     model.OSType
	OSArch     model.OSArch
	OSName     string
	OSVersion  string
	Addresses  []model.Address
	Status     model.InstanceStatus
	Fault      []byte
}

// ProviderErrorKind says what is known after a failed provider call.
type ProviderErrorKind int

// Provider error kinds.
const (
	// ProviderFailed: the program said that it failed.
	ProviderFailed ProviderErrorKind = iota
	// ProviderTimeout: the program was killed because it took too long.
	ProviderTimeout
	// ProviderBadAnswer: the program succeeded but its answer breaks the protocol, such as status pending_create.
	ProviderBadAnswer
	// ProviderNotFound: exit code 30.
	ProviderNotFound
	// ProviderDuplicate: exit code 31.
	ProviderDuplicate
)

// ProviderError is a failed call of a provider. Fault is what users are shown, capped in length.
type ProviderError struct {
	Kind  ProviderErrorKind
	Op    string
	Fault string
	// ProviderID is set where the answer of a ProviderBadAnswer names the machine that it made.
	ProviderID string
	Err        error
}

func (e *ProviderError) Error() string { return e.Op + ": " + e.Fault }

func (e *ProviderError) Unwrap() error { return e.Err }

// Bootstrap is what a provider gets to know about a new instance. Token is a secret.
type Bootstrap struct {
	Name        string
	RepoURL     string
	CallbackURL string
	MetadataURL string
	Token       string
	Tools       []Tool
	CACerts     []byte
	Labels      []string
	JIT         bool
}

// Tokens makes the tokens by which instances call back.
type Tokens interface {
	// InstanceToken makes a token that is good for one create attempt of an instance, for somewhat longer than life, the
	// time that the bootstrap may take.
	InstanceToken(instance model.Instance, entity model.Entity, life time.Duration) (string, error)
}
