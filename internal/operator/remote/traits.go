package remote

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

func none[T any](T) string { return "" }

func nothing[T any](T, *T, origin) {}

func providerTraits() traits[garm.Provider] {
	return traits[garm.Provider]{
		kind: KindProvider, id: func(p garm.Provider) string { return p.Name },
		natural: func(p garm.Provider) string { return p.Name }, parent: none[garm.Provider],
		updated: func(garm.Provider) time.Time { return time.Time{} }, keep: nothing[garm.Provider], normal: func(*garm.Provider) {},
		detailed: always[garm.Provider], clone: func(p garm.Provider) garm.Provider { return p },
	}
}

func always[T any](T) bool { return true }

func endpointTraits() traits[garm.Endpoint] {
	return traits[garm.Endpoint]{
		kind: KindEndpoint, id: func(e garm.Endpoint) string { return EndpointKey(e.Name) },
		natural: func(e garm.Endpoint) string { return EndpointKey(e.Name) }, parent: none[garm.Endpoint],
		updated: func(e garm.Endpoint) time.Time { return e.UpdatedAt }, keep: nothing[garm.Endpoint], normal: func(*garm.Endpoint) {},
		detailed: always[garm.Endpoint], clone: cloneEndpoint,
	}
}

func cloneEndpoint(e garm.Endpoint) garm.Endpoint {
	e.CACertBundle = bytes.Clone(e.CACertBundle)
	return e
}

func credentialsTraits() traits[garm.Credentials] {
	return traits[garm.Credentials]{
		kind: KindCredentials, id: func(c garm.Credentials) string {
			if c.ID == 0 {
				return ""
			}
			return CredentialsID(c.ID)
		},
		natural: func(c garm.Credentials) string { return CredentialsKey(c.Name) }, parent: none[garm.Credentials],
		updated: func(c garm.Credentials) time.Time { return c.UpdatedAt },
		normal:  func(*garm.Credentials) {},
		keep: func(old garm.Credentials, fresh *garm.Credentials, from origin) {
			if from != fromGet {
				fresh.Repositories, fresh.Organizations, fresh.Enterprises = old.Repositories, old.Organizations, old.Enterprises
			}
			if fresh.Endpoint.Name == "" {
				fresh.Endpoint = old.Endpoint
			}
			if fresh.RateLimit == nil {
				fresh.RateLimit = old.RateLimit
			}
		},
		detailed: always[garm.Credentials], clone: cloneCredentials,
	}
}

func cloneCredentials(c garm.Credentials) garm.Credentials {
	c.CABundle = bytes.Clone(c.CABundle)
	c.Endpoint = cloneEndpoint(c.Endpoint)
	c.Repositories = slices.Clone(c.Repositories)
	c.Organizations = slices.Clone(c.Organizations)
	c.Enterprises = slices.Clone(c.Enterprises)
	if c.RateLimit != nil {
		limit := *c.RateLimit
		c.RateLimit = &limit
	}
	return c
}

// keepEntity keeps the server's events of the entity, which a list may leave out, and what a write or an event may leave
// out: the endpoint, and whether the pool manager runs, which is no column of the server's database.
func keepEntity(old garm.Entity, fresh *garm.Entity, from origin) {
	if len(fresh.Events) == 0 {
		fresh.Events = old.Events
	}
	if fresh.Endpoint.Name == "" {
		fresh.Endpoint = old.Endpoint
	}
	status := &fresh.PoolManagerStatus
	if from == fromEvent && !status.Running && status.FailureReason == "" {
		*status = old.PoolManagerStatus
	}
}

// normalEntity drops the pools: the pools' own store has them.
func normalEntity(e *garm.Entity) { e.Pools = nil }

func cloneEntity(e garm.Entity) garm.Entity {
	e.Events = slices.Clone(e.Events)
	e.Credentials = cloneCredentials(e.Credentials)
	e.Endpoint = cloneEndpoint(e.Endpoint)
	return e
}

func repositoryTraits() traits[garm.Repository] {
	return traits[garm.Repository]{
		kind: KindRepository, id: func(r garm.Repository) string { return r.ID },
		natural: func(r garm.Repository) string { return entityKey(r.Endpoint.Name, r.Owner+"/"+r.Name) },
		parent:  none[garm.Repository], updated: func(r garm.Repository) time.Time { return r.UpdatedAt },
		normal: func(e *garm.Repository) { normalEntity(&e.Entity) },
		keep: func(old garm.Repository, fresh *garm.Repository, from origin) {
			keepEntity(old.Entity, &fresh.Entity, from)
		},
		detailed: always[garm.Repository],
		ailing:   func(e garm.Repository) bool { return !e.PoolManagerStatus.Running },
		clone: func(r garm.Repository) garm.Repository {
			r.Entity = cloneEntity(r.Entity)
			return r
		},
		final: true,
	}
}

func organizationTraits() traits[garm.Organization] {
	return traits[garm.Organization]{
		kind: KindOrganization, id: func(o garm.Organization) string { return o.ID },
		natural: func(o garm.Organization) string { return entityKey(o.Endpoint.Name, o.Name) },
		parent:  none[garm.Organization], updated: func(o garm.Organization) time.Time { return o.UpdatedAt },
		normal: func(e *garm.Organization) { normalEntity(&e.Entity) },
		keep: func(old garm.Organization, fresh *garm.Organization, from origin) {
			keepEntity(old.Entity, &fresh.Entity, from)
		},
		detailed: always[garm.Organization],
		ailing:   func(e garm.Organization) bool { return !e.PoolManagerStatus.Running },
		clone: func(o garm.Organization) garm.Organization {
			o.Entity = cloneEntity(o.Entity)
			return o
		},
		final: true,
	}
}

func enterpriseTraits() traits[garm.Enterprise] {
	return traits[garm.Enterprise]{
		kind: KindEnterprise, id: func(e garm.Enterprise) string { return e.ID },
		natural: func(e garm.Enterprise) string { return entityKey(e.Endpoint.Name, e.Name) },
		parent:  none[garm.Enterprise], updated: func(e garm.Enterprise) time.Time { return e.UpdatedAt },
		normal: func(e *garm.Enterprise) { normalEntity(&e.Entity) },
		keep: func(old garm.Enterprise, fresh *garm.Enterprise, from origin) {
			keepEntity(old.Entity, &fresh.Entity, from)
		},
		detailed: always[garm.Enterprise],
		ailing:   func(e garm.Enterprise) bool { return !e.PoolManagerStatus.Running },
		clone: func(e garm.Enterprise) garm.Enterprise {
			e.Entity = cloneEntity(e.Entity)
			return e
		},
		final: true,
	}
}

// entityKey is empty where the endpoint is not known: the key would be wrong.
func entityKey(endpoint, name string) string {
	if endpoint == "" {
		return ""
	}
	return fold(endpoint + "/" + name)
}

func poolTraits() traits[garm.Pool] {
	return traits[garm.Pool]{
		kind: KindPool, id: func(p garm.Pool) string { return p.ID },
		natural: func(p garm.Pool) string { return p.ID }, parent: poolOwner,
		updated: func(p garm.Pool) time.Time { return p.UpdatedAt },
		normal:  normalPool,
		keep: func(old garm.Pool, fresh *garm.Pool, from origin) {
			if from != fromGet && len(fresh.ExtraSpecs) == 0 {
				fresh.ExtraSpecs = old.ExtraSpecs
			}
		},
		detailed: func(p garm.Pool) bool { return len(p.ExtraSpecs) > 0 },
		clone: func(p garm.Pool) garm.Pool {
			p.Tags = slices.Clone(p.Tags)
			p.ExtraSpecs = bytes.Clone(p.ExtraSpecs)
			p.Endpoint = cloneEndpoint(p.Endpoint)
			return p
		},
		final: true,
	}
}

// normalPool drops the instances, which have their own store, and puts the tags in order: servers show them in any, and
// the answer of an update may repeat some.
func normalPool(p *garm.Pool) {
	p.Instances = nil
	tags := slices.Clone(p.Tags)
	slices.SortFunc(tags, func(a, b garm.Tag) int { return strings.Compare(a.Name, b.Name) })
	p.Tags = slices.CompactFunc(tags, func(a, b garm.Tag) bool { return a.Name == b.Name })
}

func poolOwner(p garm.Pool) string {
	switch {
	case p.RepoID != "":
		return p.RepoID
	case p.OrgID != "":
		return p.OrgID
	default:
		return p.EnterpriseID
	}
}

func instanceTraits() traits[garm.Instance] {
	return traits[garm.Instance]{
		kind: KindInstance, id: func(i garm.Instance) string { return i.Name },
		natural: func(i garm.Instance) string { return InstanceKey(i.Name) },
		parent:  func(i garm.Instance) string { return i.PoolID },
		updated: func(i garm.Instance) time.Time { return i.UpdatedAt },
		normal:  func(*garm.Instance) {},
		keep: func(old garm.Instance, fresh *garm.Instance, from origin) {
			if from == fromGet {
				return
			}
			if len(fresh.Addresses) == 0 {
				fresh.Addresses = old.Addresses
			}
			if len(fresh.StatusMessages) == 0 {
				fresh.StatusMessages = old.StatusMessages
			}
		},
		detailed: func(i garm.Instance) bool { return len(i.Addresses) > 0 },
		clone: func(i garm.Instance) garm.Instance {
			i.Addresses = slices.Clone(i.Addresses)
			i.StatusMessages = slices.Clone(i.StatusMessages)
			i.ProviderFault = bytes.Clone(i.ProviderFault)
			if i.Job != nil {
				job := *i.Job
				i.Job = &job
			}
			return i
		},
		final: true, ties: true,
	}
}
