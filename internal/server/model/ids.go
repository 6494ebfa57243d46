package model

// ControllerID is the UUID that a server draws when its database is made.
type ControllerID string

// UserID is the UUID of a user.
type UserID string

// EndpointName identifies a forge endpoint; it is unique without regard to letter case.
type EndpointName string

// CredentialsID identifies forge credentials.
type CredentialsID uint

// EntityID is the UUID of a repository, organization or enterprise.
type EntityID string

// PoolID is the UUID of a pool.
type PoolID string

// TagID is the UUID of a tag.
type TagID string

// InstanceID is the UUID of a runner instance.
type InstanceID string

// JobID is the store's own id of a job.
type JobID int64
