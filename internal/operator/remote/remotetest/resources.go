package remotetest

import (
	"context"
	"slices"
	"strings"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// GetController implements remote.Client.
func (s *Server) GetController(ctx context.Context) (garm.ControllerInfo, error) {
	if err := s.enter(ctx, "GetController", false); err != nil {
		return garm.ControllerInfo{}, err
	}
	defer s.mu.Unlock()
	return s.info, nil
}

// UpdateController implements remote.Client.
func (s *Server) UpdateController(ctx context.Context, p garm.UpdateControllerParams) (garm.ControllerInfo, error) {
	if err := s.enter(ctx, "UpdateController", false); err != nil {
		return garm.ControllerInfo{}, err
	}
	defer s.mu.Unlock()
	set(&s.info.MetadataURL, p.MetadataURL)
	set(&s.info.CallbackURL, p.CallbackURL)
	set(&s.info.WebhookURL, p.WebhookURL)
	set(&s.info.MinimumJobAgeBackoff, p.MinimumJobAgeBackoff)
	s.noURLs = false
	s.emit(garm.EntityTypeController, garm.OperationUpdate, s.info)
	return s.info, nil
}

// ListProviders implements remote.Client.
func (s *Server) ListProviders(ctx context.Context) ([]garm.Provider, error) {
	if err := s.enter(ctx, "ListProviders", true); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.providers), nil
}

// ListEndpoints implements remote.Client.
func (s *Server) ListEndpoints(ctx context.Context) ([]garm.Endpoint, error) {
	return listOf(ctx, s, "ListEndpoints", &s.endpoints, same)
}

// GetEndpoint implements remote.Client.
func (s *Server) GetEndpoint(ctx context.Context, name string) (garm.Endpoint, error) {
	return getOf(ctx, s, "GetEndpoint", &s.endpoints, strings.ToLower(name))
}

// CreateEndpoint implements remote.Client.
func (s *Server) CreateEndpoint(ctx context.Context, p garm.CreateEndpointParams) (garm.Endpoint, error) {
	return createOf(ctx, s, "CreateEndpoint", &s.endpoints, garm.EntityTypeEndpoint, func() (string, garm.Endpoint, error) {
		return strings.ToLower(p.Name), garm.Endpoint{
			Name: p.Name, Description: p.Description, APIBaseURL: p.APIBaseURL, UploadBaseURL: p.UploadBaseURL,
			BaseURL: p.BaseURL, CACertBundle: p.CACertBundle, UpdatedAt: s.stamp(),
		}, nil
	})
}

// UpdateEndpoint implements remote.Client.
func (s *Server) UpdateEndpoint(ctx context.Context, name string, p garm.UpdateEndpointParams) (garm.Endpoint, error) {
	return updateOf(ctx, s, "UpdateEndpoint", &s.endpoints, garm.EntityTypeEndpoint, strings.ToLower(name), func(e *garm.Endpoint) {
		set(&e.Description, p.Description)
		set(&e.APIBaseURL, p.APIBaseURL)
		set(&e.UploadBaseURL, p.UploadBaseURL)
		set(&e.BaseURL, p.BaseURL)
		set(&e.CACertBundle, p.CACertBundle)
		e.UpdatedAt = s.stamp()
	})
}

// DeleteEndpoint implements remote.Client.
func (s *Server) DeleteEndpoint(ctx context.Context, name string) error {
	return deleteOf(ctx, s, "DeleteEndpoint", &s.endpoints, garm.EntityTypeEndpoint, strings.ToLower(name),
		func(e garm.Endpoint) any { return garm.Endpoint{Name: e.Name} })
}

// ListCredentials implements remote.Client.
func (s *Server) ListCredentials(ctx context.Context) ([]garm.Credentials, error) {
	return listOf(ctx, s, "ListCredentials", &s.credentials, same)
}

// GetCredentials implements remote.Client.
func (s *Server) GetCredentials(ctx context.Context, id uint) (garm.Credentials, error) {
	return getOf(ctx, s, "GetCredentials", &s.credentials, remote.CredentialsID(id))
}

// CreateCredentials implements remote.Client.
func (s *Server) CreateCredentials(ctx context.Context, p garm.CreateCredentialsParams) (garm.Credentials, error) {
	const op = "CreateCredentials"
	return createOf(ctx, s, op, &s.credentials, garm.EntityTypeCredentials, func() (string, garm.Credentials, error) {
		endpoint, ok := s.endpoints[strings.ToLower(p.Endpoint)]
		if !ok {
			return "", garm.Credentials{}, Error(op, 404)
		}
		for _, c := range s.credentials {
			if strings.EqualFold(c.Name, p.Name) {
				return "", garm.Credentials{}, Error(op, 409)
			}
		}
		s.nextID++
		return remote.CredentialsID(s.nextID), garm.Credentials{
			ID: s.nextID, Name: p.Name, Description: p.Description, AuthType: p.AuthType, Endpoint: endpoint, UpdatedAt: s.stamp(),
		}, nil
	})
}

// UpdateCredentials implements remote.Client.
func (s *Server) UpdateCredentials(ctx context.Context, id uint, p garm.UpdateCredentialsParams) (garm.Credentials, error) {
	return updateOf(ctx, s, "UpdateCredentials", &s.credentials, garm.EntityTypeCredentials, remote.CredentialsID(id), func(c *garm.Credentials) {
		set(&c.Name, p.Name)
		set(&c.Description, p.Description)
		c.UpdatedAt = s.stamp()
	})
}

// DeleteCredentials implements remote.Client.
func (s *Server) DeleteCredentials(ctx context.Context, id uint) error {
	return deleteOf(ctx, s, "DeleteCredentials", &s.credentials, garm.EntityTypeCredentials, remote.CredentialsID(id),
		func(c garm.Credentials) any { return garm.Credentials{ID: c.ID, Name: c.Name} })
}

func set[T any](v *T, p *T) {
	if p != nil {
		*v = *p
	}
}
