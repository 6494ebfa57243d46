package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/garm-operator/garm-operator/garm"
)

// resource is a store, and how its kind is read from the server.
type resource[T any] struct {
	*store[T]
	fetch   func(context.Context) ([]T, error)
	refresh *schedule
}

// cache holds what is known under one controller id.
type cache struct {
	// retired is set when the controller id is no longer the server's.
	retired atomic.Bool
	// complete is set, and told, when every kind was listed.
	complete atomic.Bool

	providers     *resource[garm.Provider]
	endpoints     *resource[garm.Endpoint]
	credentials   *resource[garm.Credentials]
	repositories  *resource[garm.Repository]
	organizations *resource[garm.Organization]
	enterprises   *resource[garm.Enterprise]
	pools         *resource[garm.Pool]
	instances     *resource[garm.Instance]
}

// kept is a resource without its type.
type kept interface {
	name() Kind
	known() bool
	degraded() bool
	plan() *schedule
	// doubtful says whether an event is open that only a list or an own write can answer.
	doubtful() bool
	// load lists the kind once and returns what changed.
	load(ctx context.Context) ([]Notice, int, error)
	// event takes an event of the kind.
	event(op garm.Operation, payload json.RawMessage) (EventResult, []Notice, error)
}

func newCache(client Reader, opts Options) *cache {
	return &cache{
		providers:     keepKind(providerTraits(), client.ListProviders, newSchedule(KindProvider, opts)),
		endpoints:     keepKind(endpointTraits(), client.ListEndpoints, newSchedule(KindEndpoint, opts)),
		credentials:   keepKind(credentialsTraits(), client.ListCredentials, newSchedule(KindCredentials, opts)),
		repositories:  keepKind(repositoryTraits(), client.ListRepositories, newSchedule(KindRepository, opts)),
		organizations: keepKind(organizationTraits(), client.ListOrganizations, newSchedule(KindOrganization, opts)),
		enterprises:   keepKind(enterpriseTraits(), client.ListEnterprises, newSchedule(KindEnterprise, opts)),
		pools:         keepKind(poolTraits(), client.ListPools, newSchedule(KindPool, opts)),
		instances:     keepKind(instanceTraits(), client.ListInstances, newSchedule(KindInstance, opts)),
	}
}

func keepKind[T any](t traits[T], fetch func(context.Context) ([]T, error), plan *schedule) *resource[T] {
	return &resource[T]{store: newStore(t), fetch: fetch, refresh: plan}
}

func (c *cache) kinds() []kept {
	return []kept{c.endpoints, c.credentials, c.providers, c.repositories, c.organizations, c.enterprises, c.pools, c.instances}
}

func (c *cache) of(t garm.EntityType) kept {
	switch t {
	case garm.EntityTypeEndpoint:
		return c.endpoints
	case garm.EntityTypeCredentials:
		return c.credentials
	case garm.EntityTypeRepository:
		return c.repositories
	case garm.EntityTypeOrganization:
		return c.organizations
	case garm.EntityTypeEnterprise:
		return c.enterprises
	case garm.EntityTypePool:
		return c.pools
	case garm.EntityTypeInstance:
		return c.instances
	default:
		return nil
	}
}

func (r *resource[T]) name() Kind { return r.kind }

func (r *resource[T]) plan() *schedule { return r.refresh }

func (r *resource[T]) load(ctx context.Context) ([]Notice, int, error) {
	start := r.begin()
	objs, err := r.fetch(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("list %s: %w", r.kind, err)
	}
	return r.applyList(start, objs), len(objs), nil
}

func (r *resource[T]) event(op garm.Operation, payload json.RawMessage) (EventResult, []Notice, error) {
	var obj T
	if err := json.Unmarshal(payload, &obj); err != nil {
		return EventInvalid, nil, fmt.Errorf("decode %s event: %w", r.kind, err)
	}
	if op != garm.OperationDelete {
		result, notices := r.applyEvent(obj)
		return result, notices, nil
	}
	id := r.id(obj)
	if id == "" {
		return EventDirty, nil, nil
	}
	result, notices := r.applyDelete(id, false)
	return result, notices, nil
}
