package remotetest

import (
	"context"
	"strings"

	"github.com/garm-operator/garm-operator/garm"
)

// entity makes an entity whose pool manager runs, unless HoldPoolManagers was called.
func (s *Server) entity(op string, p garm.CreateEntityParams) (garm.Entity, error) {
	for _, c := range s.credentials {
		if strings.EqualFold(c.Name, p.CredentialsName) {
			return garm.Entity{
				ID: newUUID(), Name: p.Name, CredentialsName: c.Name, CredentialsID: c.ID, Credentials: c,
				PoolManagerStatus: garm.PoolManagerStatus{Running: !s.held}, PoolBalancerType: balancer(p.PoolBalancerType),
				Endpoint: c.Endpoint, UpdatedAt: s.stamp(),
			}, nil
		}
	}
	return garm.Entity{}, Error(op, 400)
}

func (s *Server) update(e *garm.Entity, p garm.UpdateEntityParams) {
	if p.PoolBalancerType != "" {
		e.PoolBalancerType = p.PoolBalancerType
	}
	for _, c := range s.credentials {
		if p.CredentialsName != "" && strings.EqualFold(c.Name, p.CredentialsName) {
			e.CredentialsName, e.CredentialsID, e.Credentials = c.Name, c.ID, c
		}
	}
	e.UpdatedAt = s.stamp()
}

func balancer(t string) string {
	if t == "" {
		return garm.BalancerRoundRobin
	}
	return t
}

// ListRepositories implements remote.Client.
func (s *Server) ListRepositories(ctx context.Context) ([]garm.Repository, error) {
	return listOf(ctx, s, "ListRepositories", &s.repositories, same)
}

// GetRepository implements remote.Client.
func (s *Server) GetRepository(ctx context.Context, id string) (garm.Repository, error) {
	return getOf(ctx, s, "GetRepository", &s.repositories, id)
}

// CreateRepository implements remote.Client.
func (s *Server) CreateRepository(ctx context.Context, p garm.CreateEntityParams) (garm.Repository, error) {
	const op = "CreateRepository"
	return createOf(ctx, s, op, &s.repositories, garm.EntityTypeRepository, func() (string, garm.Repository, error) {
		e, err := s.entity(op, p)
		for _, r := range s.repositories {
			if err == nil && r.Endpoint.Name == e.Endpoint.Name && strings.EqualFold(r.Owner+"/"+r.Name, p.Owner+"/"+p.Name) {
				err = Error(op, 409)
			}
		}
		return e.ID, garm.Repository{Owner: p.Owner, Entity: e}, err
	})
}

// UpdateRepository implements remote.Client.
func (s *Server) UpdateRepository(ctx context.Context, id string, p garm.UpdateEntityParams) (garm.Repository, error) {
	return updateOf(ctx, s, "UpdateRepository", &s.repositories, garm.EntityTypeRepository, id, func(r *garm.Repository) {
		s.update(&r.Entity, p)
	})
}

// DeleteRepository implements remote.Client.
func (s *Server) DeleteRepository(ctx context.Context, id string) error {
	return deleteOf(ctx, s, "DeleteRepository", &s.repositories, garm.EntityTypeRepository, id, func(r garm.Repository) any {
		return garm.Repository{Entity: garm.Entity{ID: r.ID}}
	})
}

// ListOrganizations implements remote.Client.
func (s *Server) ListOrganizations(ctx context.Context) ([]garm.Organization, error) {
	return listOf(ctx, s, "ListOrganizations", &s.organizations, same)
}

// GetOrganization implements remote.Client.
func (s *Server) GetOrganization(ctx context.Context, id string) (garm.Organization, error) {
	return getOf(ctx, s, "GetOrganization", &s.organizations, id)
}

// CreateOrganization implements remote.Client.
func (s *Server) CreateOrganization(ctx context.Context, p garm.CreateEntityParams) (garm.Organization, error) {
	const op = "CreateOrganization"
	return createOf(ctx, s, op, &s.organizations, garm.EntityTypeOrganization, func() (string, garm.Organization, error) {
		e, err := s.entity(op, p)
		for _, o := range s.organizations {
			if err == nil && o.Endpoint.Name == e.Endpoint.Name && strings.EqualFold(o.Name, p.Name) {
				err = Error(op, 409)
			}
		}
		return e.ID, garm.Organization{Entity: e}, err
	})
}

// UpdateOrganization implements remote.Client.
func (s *Server) UpdateOrganization(ctx context.Context, id string, p garm.UpdateEntityParams) (garm.Organization, error) {
	return updateOf(ctx, s, "UpdateOrganization", &s.organizations, garm.EntityTypeOrganization, id, func(o *garm.Organization) {
		s.update(&o.Entity, p)
	})
}

// DeleteOrganization implements remote.Client.
func (s *Server) DeleteOrganization(ctx context.Context, id string) error {
	return deleteOf(ctx, s, "DeleteOrganization", &s.organizations, garm.EntityTypeOrganization, id, func(o garm.Organization) any {
		return garm.Organization{Entity: garm.Entity{ID: o.ID}}
	})
}

// ListEnterprises implements remote.Client.
func (s *Server) ListEnterprises(ctx context.Context) ([]garm.Enterprise, error) {
	return listOf(ctx, s, "ListEnterprises", &s.enterprises, same)
}

// GetEnterprise implements remote.Client.
func (s *Server) GetEnterprise(ctx context.Context, id string) (garm.Enterprise, error) {
	return getOf(ctx, s, "GetEnterprise", &s.enterprises, id)
}

// CreateEnterprise implements remote.Client.
func (s *Server) CreateEnterprise(ctx context.Context, p garm.CreateEntityParams) (garm.Enterprise, error) {
	const op = "CreateEnterprise"
	return createOf(ctx, s, op, &s.enterprises, garm.EntityTypeEnterprise, func() (string, garm.Enterprise, error) {
		e, err := s.entity(op, p)
		for _, o := range s.enterprises {
			if err == nil && o.Endpoint.Name == e.Endpoint.Name && strings.EqualFold(o.Name, p.Name) {
				err = Error(op, 409)
			}
		}
		return e.ID, garm.Enterprise{Entity: e}, err
	})
}

// UpdateEnterprise implements remote.Client.
func (s *Server) UpdateEnterprise(ctx context.Context, id string, p garm.UpdateEntityParams) (garm.Enterprise, error) {
	return updateOf(ctx, s, "UpdateEnterprise", &s.enterprises, garm.EntityTypeEnterprise, id, func(e *garm.Enterprise) {
		s.update(&e.Entity, p)
	})
}

// DeleteEnterprise implements remote.Client.
func (s *Server) DeleteEnterprise(ctx context.Context, id string) error {
	return deleteOf(ctx, s, "DeleteEnterprise", &s.enterprises, garm.EntityTypeEnterprise, id, func(e garm.Enterprise) any {
		return garm.Enterprise{Entity: garm.Entity{ID: e.ID}}
	})
}

// HoldPoolManagers makes entities whose pool managers do not run before SetPoolManager says so.
func (s *Server) HoldPoolManagers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// SetPoolManager changes whether the pool manager of an organization runs, without an event, as v0.1.5 does.
func (s *Server) SetPoolManager(id string, status garm.PoolManagerStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.organizations[id]; ok {
		o.PoolManagerStatus = status
		s.organizations[id] = o
	}
	if r, ok := s.repositories[id]; ok {
		r.PoolManagerStatus = status
		s.repositories[id] = r
	}
	if e, ok := s.enterprises[id]; ok {
		e.PoolManagerStatus = status
		s.enterprises[id] = e
	}
}
