package remote

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/garm-operator/garm-operator/garm"
)

// View is what a session knows of its server under one Identity. Listers cost nothing and return copies. Their last
// result says whether the kind was read at all: if it is false, that nothing was found means nothing. When the server
// comes back with another controller id, the session has a new View, and this one knows nothing any more.
type View struct {
	identity Identity
	session  *Session
	cache    *cache

	// relisting lets one caller of Relist read at a time; the others then see what it has read.
	relisting sync.Mutex
}

// Identity returns the server and controller id that everything in the view is bound to.
func (v *View) Identity() Identity { return v.identity }

// Synced says whether all kinds were listed at least once.
func (v *View) Synced() bool {
	for _, k := range v.cache.kinds() {
		if !k.known() {
			return false
		}
	}
	return !v.cache.retired.Load()
}

// Controller returns what the server last said of itself.
func (v *View) Controller() garm.ControllerInfo { return v.session.State().Controller }

// Providers returns the providers that pools can name.
func (v *View) Providers() ([]garm.Provider, bool) { return list(v, v.cache.providers) }

// Endpoint returns the endpoint with a name, compared without letter case.
func (v *View) Endpoint(name string) (garm.Endpoint, bool, bool) {
	return one(v, v.cache.endpoints, EndpointKey(name))
}

// Endpoints returns all endpoints.
func (v *View) Endpoints() ([]garm.Endpoint, bool) { return list(v, v.cache.endpoints) }

// Credentials returns the credentials with an id.
func (v *View) Credentials(id uint) (garm.Credentials, bool, bool) {
	return one(v, v.cache.credentials, CredentialsID(id))
}

// CredentialsNamed returns the credentials with a name, compared without letter case. Real servers have at most one.
func (v *View) CredentialsNamed(name string) ([]garm.Credentials, bool) {
	return named(v, v.cache.credentials, CredentialsKey(name))
}

// AllCredentials returns all credentials.
func (v *View) AllCredentials() ([]garm.Credentials, bool) { return list(v, v.cache.credentials) }

// Repository returns the repository with an id.
func (v *View) Repository(id string) (garm.Repository, bool, bool) {
	return one(v, v.cache.repositories, id)
}

// RepositoriesNamed returns the repositories with a natural key. Real servers have at most one.
func (v *View) RepositoriesNamed(endpoint, owner, name string) ([]garm.Repository, bool) {
	return named(v, v.cache.repositories, RepositoryKey(endpoint, owner, name))
}

// Organization returns the organization with an id.
func (v *View) Organization(id string) (garm.Organization, bool, bool) {
	return one(v, v.cache.organizations, id)
}

// OrganizationsNamed returns the organizations with a natural key. Real servers have at most one.
func (v *View) OrganizationsNamed(endpoint, name string) ([]garm.Organization, bool) {
	return named(v, v.cache.organizations, OrganizationKey(endpoint, name))
}

// Enterprise returns the enterprise with an id.
func (v *View) Enterprise(id string) (garm.Enterprise, bool, bool) {
	return one(v, v.cache.enterprises, id)
}

// EnterprisesNamed returns the enterprises with a natural key. Real servers have at most one.
func (v *View) EnterprisesNamed(endpoint, name string) ([]garm.Enterprise, bool) {
	return named(v, v.cache.enterprises, EnterpriseKey(endpoint, name))
}

// Pool returns the pool with an id, with its tags in order and without its instances. Its extra specs are those that
// were last seen; PoolExtraSpecs tells whether any were.
func (v *View) Pool(id string) (garm.Pool, bool, bool) { return one(v, v.cache.pools, id) }

// Pools returns all pools.
func (v *View) Pools() ([]garm.Pool, bool) { return list(v, v.cache.pools) }

// PoolsOfEntity returns the pools of a repository, organization or enterprise.
func (v *View) PoolsOfEntity(id string) ([]garm.Pool, bool) { return owned(v, v.cache.pools, id) }

// PoolExtraSpecs returns the extra specs of a pool, which lists do not show. Known is false until they were seen in a
// GET, a write or an event; current is false when the pool has changed since. A sweep fills in both with time.
func (v *View) PoolExtraSpecs(id string) (specs json.RawMessage, known, current bool) {
	if v.cache.retired.Load() {
		return nil, false, false
	}
	known, current = v.cache.pools.details(id)
	if !known {
		return nil, false, false
	}
	pool, _, _ := v.cache.pools.get(id)
	return pool.ExtraSpecs, known, current
}

// Instance returns the instance with a name, compared without letter case.
func (v *View) Instance(name string) (garm.Instance, bool, bool) {
	found, synced := named(v, v.cache.instances, InstanceKey(name))
	if len(found) == 0 {
		return garm.Instance{}, false, synced
	}
	if i := slices.IndexFunc(found, func(i garm.Instance) bool { return i.Name == name }); i > 0 {
		return found[i], true, synced
	}
	return found[0], true, synced
}

// Instances returns all instances.
func (v *View) Instances() ([]garm.Instance, bool) { return list(v, v.cache.instances) }

// InstanceGone says whether the server itself has told, by an event or a 404, that the instance with a name is gone. It
// is false where the instance is only missing from a list, and for names that were never seen.
func (v *View) InstanceGone(name string) bool {
	return !v.cache.retired.Load() && v.cache.instances.told(name)
}

// InstancesOfPool returns the instances of a pool.
func (v *View) InstancesOfPool(id string) ([]garm.Instance, bool) {
	return owned(v, v.cache.instances, id)
}

func one[T any](v *View, r *resource[T], id string) (obj T, found, synced bool) {
	if v.cache.retired.Load() {
		return obj, false, false
	}
	return r.get(id)
}

func named[T any](v *View, r *resource[T], key string) ([]T, bool) {
	if v.cache.retired.Load() {
		return nil, false
	}
	return r.named(key)
}

func owned[T any](v *View, r *resource[T], parent string) ([]T, bool) {
	if v.cache.retired.Load() {
		return nil, false
	}
	return r.owned(parent)
}

func list[T any](v *View, r *resource[T]) ([]T, bool) {
	if v.cache.retired.Load() {
		return nil, false
	}
	return r.all()
}
