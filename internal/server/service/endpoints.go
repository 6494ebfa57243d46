package service

import (
	"context"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// EndpointUpdate is a change of an endpoint; a nil field stays as it is.
type EndpointUpdate struct {
	Description, APIBaseURL, UploadBaseURL, BaseURL *string
	CACertBundle                                    *[]byte
}

// Endpoints returns all endpoints.
func (s *Service) Endpoints(ctx context.Context) ([]model.Endpoint, error) {
	return s.Store.Endpoints(ctx)
}

// Endpoint returns an endpoint by name.
func (s *Service) Endpoint(ctx context.Context, name model.EndpointName) (model.Endpoint, error) {
	return s.Store.Endpoint(ctx, name)
}

// CreateEndpoint adds an endpoint. Base URLs that are no URLs are accepted, as all servers do.
func (s *Service) CreateEndpoint(ctx context.Context, e model.Endpoint) (model.Endpoint, error) {
	for _, u := range []struct{ name, value string }{{"api_base_url", e.APIBaseURL}, {"upload_base_url", e.UploadBaseURL}} {
		if u.value == "" {
			return model.Endpoint{}, model.Invalid("missing %s", u.name)
		}
		if !isHTTP(u.value) {
			return model.Endpoint{}, model.Invalid("invalid %s: an http or https URL with a host is needed", u.name)
		}
	}
	switch {
	case e.BaseURL == "":
		return model.Endpoint{}, model.Invalid("missing base_url")
	case e.Name == "":
		return model.Endpoint{}, model.Invalid("missing name")
	case len(e.CACertBundle) > 0 && !isCertificates(e.CACertBundle):
		return model.Endpoint{}, model.Invalid("invalid ca_cert_bundle: PEM certificates are needed")
	}
	e.Type = model.ForgeGitHub
	return s.Store.CreateEndpoint(ctx, e)
}

// UpdateEndpoint changes an endpoint. Its URLs stay while credentials refer to it.
func (s *Service) UpdateEndpoint(ctx context.Context, name model.EndpointName, u EndpointUpdate) (model.Endpoint, error) {
	for _, check := range []struct {
		name string
		url  *string
	}{{"api_base_url", u.APIBaseURL}, {"upload_base_url", u.UploadBaseURL}, {"base_url", u.BaseURL}} {
		if check.url != nil && !isHTTP(*check.url) {
			return model.Endpoint{}, model.Invalid("invalid %s: an http or https URL with a host is needed", check.name)
		}
	}
	if u.CACertBundle != nil && len(*u.CACertBundle) > 0 && !isCertificates(*u.CACertBundle) {
		return model.Endpoint{}, model.Invalid("invalid ca_cert_bundle: PEM certificates are needed")
	}
	return s.Store.UpdateEndpoint(ctx, name, func(e *model.Endpoint, inUse bool) error {
		before := *e
		assign(&e.Description, u.Description)
		assign(&e.APIBaseURL, u.APIBaseURL)
		assign(&e.UploadBaseURL, u.UploadBaseURL)
		assign(&e.BaseURL, u.BaseURL)
		assign(&e.CACertBundle, u.CACertBundle)
		if len(e.CACertBundle) == 0 {
			e.CACertBundle = nil
		}
		moved := before.APIBaseURL != e.APIBaseURL || before.UploadBaseURL != e.UploadBaseURL || before.BaseURL != e.BaseURL
		if inUse && moved {
			return model.Invalid("cannot update endpoint URLs with existing credentials")
		}
		return nil
	})
}

// DeleteEndpoint removes an endpoint. A missing one is no error.
func (s *Service) DeleteEndpoint(ctx context.Context, name model.EndpointName) error {
	return s.Store.DeleteEndpoint(ctx, name)
}
