package remotetest

import (
	"context"

	"github.com/garm-operator/garm-operator/garm"
)

// ListPools implements remote.Client. Like the real servers it leaves the extra specs out.
func (s *Server) ListPools(ctx context.Context) ([]garm.Pool, error) {
	return listOf(ctx, s, "ListPools", &s.pools, func(p garm.Pool) garm.Pool {
		p.ExtraSpecs = nil
		return p
	})
}

// GetPool implements remote.Client.
func (s *Server) GetPool(ctx context.Context, id string) (garm.Pool, error) {
	return getOf(ctx, s, "GetPool", &s.pools, id)
}

// CreateRepositoryPool implements remote.Client.
func (s *Server) CreateRepositoryPool(ctx context.Context, repoID string, p garm.CreatePoolParams) (garm.Pool, error) {
	return s.createPool(ctx, "CreateRepositoryPool", p, func(pool *garm.Pool) bool {
		r, ok := s.repositories[repoID]
		pool.RepoID, pool.RepoName = r.ID, r.Owner+"/"+r.Name
		return ok
	})
}

// CreateOrganizationPool implements remote.Client.
func (s *Server) CreateOrganizationPool(ctx context.Context, orgID string, p garm.CreatePoolParams) (garm.Pool, error) {
	return s.createPool(ctx, "CreateOrganizationPool", p, func(pool *garm.Pool) bool {
		o, ok := s.organizations[orgID]
		pool.OrgID, pool.OrgName = o.ID, o.Name
		return ok
	})
}

// CreateEnterprisePool implements remote.Client.
func (s *Server) CreateEnterprisePool(ctx context.Context, enterpriseID string, p garm.CreatePoolParams) (garm.Pool, error) {
	return s.createPool(ctx, "CreateEnterprisePool", p, func(pool *garm.Pool) bool {
		e, ok := s.enterprises[enterpriseID]
		pool.EnterpriseID, pool.EnterpriseName = e.ID, e.Name
		return ok
	})
}

func (s *Server) createPool(ctx context.Context, op string, p garm.CreatePoolParams, own func(*garm.Pool) bool) (garm.Pool, error) {
	return createOf(ctx, s, op, &s.pools, garm.EntityTypePool, func() (string, garm.Pool, error) {
		pool := garm.Pool{
			ID: newUUID(), RunnerPrefix: p.RunnerPrefix, ProviderName: p.ProviderName, MaxRunners: p.MaxRunners,
			MinIdleRunners: p.MinIdleRunners, Image: p.Image, Flavor: p.Flavor, OSType: p.OSType, OSArch: p.OSArch,
			Tags: tags(p.Tags), Enabled: p.Enabled, RunnerBootstrapTimeout: p.RunnerBootstrapTimeout,
			ExtraSpecs: p.ExtraSpecs, RunnerGroup: p.RunnerGroup, Priority: p.Priority, UpdatedAt: s.stamp(),
		}
		if pool.RunnerPrefix == "" {
			pool.RunnerPrefix = garm.DefaultRunnerPrefix
		}
		if pool.RunnerBootstrapTimeout == 0 {
			pool.RunnerBootstrapTimeout = garm.DefaultRunnerBootstrapTimeout
		}
		if !own(&pool) {
			return "", pool, Error(op, 404)
		}
		return pool.ID, pool, nil
	})
}

// UpdatePool implements remote.Client.
func (s *Server) UpdatePool(ctx context.Context, id string, p garm.UpdatePoolParams) (garm.Pool, error) {
	return updateOf(ctx, s, "UpdatePool", &s.pools, garm.EntityTypePool, id, func(pool *garm.Pool) {
		set(&pool.MaxRunners, p.MaxRunners)
		set(&pool.MinIdleRunners, p.MinIdleRunners)
		set(&pool.Enabled, p.Enabled)
		set(&pool.RunnerBootstrapTimeout, p.RunnerBootstrapTimeout)
		set(&pool.RunnerGroup, p.RunnerGroup)
		set(&pool.Priority, p.Priority)
		for v, given := range map[*string]string{
			&pool.RunnerPrefix: p.RunnerPrefix, &pool.Image: p.Image, &pool.Flavor: p.Flavor, &pool.OSType: p.OSType,
			&pool.OSArch: p.OSArch,
		} {
			if given != "" {
				*v = given
			}
		}
		if len(p.Tags) > 0 {
			pool.Tags = tags(p.Tags)
		}
		if len(p.ExtraSpecs) > 0 {
			pool.ExtraSpecs = p.ExtraSpecs
		}
		pool.UpdatedAt = s.stamp()
	})
}

// DeletePool implements remote.Client. It refuses while the pool has instances.
func (s *Server) DeletePool(ctx context.Context, id string) error {
	s.mu.Lock()
	used := false
	for _, i := range s.instances {
		used = used || i.PoolID == id
	}
	s.mu.Unlock()
	if used {
		return Error("DeletePool", 400)
	}
	return deleteOf(ctx, s, "DeletePool", &s.pools, garm.EntityTypePool, id, func(p garm.Pool) any { return garm.Pool{ID: p.ID} })
}

func tags(names []string) []garm.Tag {
	out := make([]garm.Tag, len(names))
	for i, n := range names {
		out[i] = garm.Tag{ID: n, Name: n}
	}
	return out
}

// ListInstances implements remote.Client. Like the real servers it leaves addresses and messages out.
func (s *Server) ListInstances(ctx context.Context) ([]garm.Instance, error) {
	return listOf(ctx, s, "ListInstances", &s.instances, func(i garm.Instance) garm.Instance {
		i.Addresses, i.StatusMessages = nil, nil
		return i
	})
}

// GetInstance implements remote.Client.
func (s *Server) GetInstance(ctx context.Context, name string) (garm.Instance, error) {
	return getOf(ctx, s, "GetInstance", &s.instances, name)
}

// DeleteInstance implements remote.Client. It only marks the instance; RemoveInstance takes it away.
func (s *Server) DeleteInstance(ctx context.Context, name string, force bool) error {
	_, err := updateOf(ctx, s, "DeleteInstance", &s.instances, garm.EntityTypeInstance, name, func(i *garm.Instance) {
		i.Status = garm.InstancePendingDelete
		if force {
			i.Status = garm.InstancePendingForceDelete
		}
		i.UpdatedAt = s.tick()
	})
	return err
}

// SetInstance puts an instance, as the server's own work does, and sends an event.
func (s *Server) SetInstance(i garm.Instance) garm.Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := garm.OperationUpdate
	if old, ok := s.instances[i.Name]; ok {
		i.ID = old.ID
	} else {
		op = garm.OperationCreate
		i.ID = newUUID()
	}
	i.UpdatedAt = s.tick()
	s.instances[i.Name] = i
	s.emit(garm.EntityTypeInstance, op, i)
	return i
}

// RemoveInstance takes an instance away and sends an event.
func (s *Server) RemoveInstance(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.instances[name]
	if !ok {
		return
	}
	delete(s.instances, name)
	s.emit(garm.EntityTypeInstance, garm.OperationDelete, garm.Instance{ID: i.ID, Name: i.Name})
}
