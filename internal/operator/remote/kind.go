package remote

import (
	"strconv"
	"strings"
)

// Kind is a kind of object that a session keeps.
type Kind string

// The kinds. KindSession stands for the session itself: its state, the controller's URLs and version.
const (
	KindSession      Kind = "Session"
	KindProvider     Kind = "Provider"
	KindEndpoint     Kind = "Endpoint"
	KindCredentials  Kind = "Credentials"
	KindRepository   Kind = "Repository"
	KindOrganization Kind = "Organization"
	KindEnterprise   Kind = "Enterprise"
	KindPool         Kind = "Pool"
	KindInstance     Kind = "Instance"
)

// Identity is the key of everything remote: ids mean something only under one controller id of one server.
type Identity struct {
	// Server is the configured name of the server.
	Server string
	// ControllerID is the UUID that the server drew when its database was made.
	ControllerID string
}

// String returns "server/controller id".
func (i Identity) String() string { return i.Server + "/" + i.ControllerID }

// Scope names the entity that owns a pool.
type Scope struct {
	// Kind is KindRepository, KindOrganization or KindEnterprise.
	Kind Kind
	// ID is the UUID of the entity.
	ID string
}

// EndpointKey returns the natural key of an endpoint: its name without letter case.
func EndpointKey(name string) string { return fold(name) }

// CredentialsKey returns the natural key of credentials: their name without letter case. Servers keep it unique per
// user, whatever the endpoint.
func CredentialsKey(name string) string { return fold(name) }

// RepositoryKey returns the natural key of a repository, without letter case.
func RepositoryKey(endpoint, owner, name string) string {
	return fold(endpoint + "/" + owner + "/" + name)
}

// OrganizationKey returns the natural key of an organization, without letter case.
func OrganizationKey(endpoint, name string) string { return fold(endpoint + "/" + name) }

// EnterpriseKey returns the natural key of an enterprise, without letter case.
func EnterpriseKey(endpoint, name string) string { return fold(endpoint + "/" + name) }

// InstanceKey returns the natural key of an instance: its name without letter case.
func InstanceKey(name string) string { return fold(name) }

// CredentialsID returns the id of credentials as notices and ConfirmGone spell it.
func CredentialsID(id uint) string { return strconv.FormatUint(uint64(id), 10) }

func fold(s string) string { return strings.ToLower(s) }
