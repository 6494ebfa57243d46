package service

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// ControllerUpdate is a change of the controller; a nil field stays as it is.
type ControllerUpdate struct {
	MetadataURL, CallbackURL, WebhookURL, AgentURL, AgentReleasesURL *string
	JobBackoff                                                       *time.Duration
	EnableAgentToolsSync                                             *bool
	CACertBundle                                                     []byte
	ClearCACertBundle                                                bool
}

// Controller returns the row about the server.
func (s *Service) Controller(ctx context.Context) (model.Controller, error) {
	return s.Store.Controller(ctx)
}

// UpdateController changes the row about the server.
func (s *Service) UpdateController(ctx context.Context, u ControllerUpdate) (model.Controller, error) {
	for _, check := range []struct {
		name string
		url  *string
	}{
		{"metadata_url", u.MetadataURL},
		{"callback_url", u.CallbackURL},
		{"webhook_url", u.WebhookURL},
		{"agent_url", u.AgentURL},
		{"garm_agent_releases_url", u.AgentReleasesURL},
	} {
		if check.url != nil && !isURL(*check.url) {
			return model.Controller{}, model.Invalid("invalid %s: a URL with scheme and host is needed", check.name)
		}
	}
	if len(u.CACertBundle) > 0 && !isCertificates(u.CACertBundle) {
		return model.Controller{}, model.Invalid("invalid ca_cert_bundle: PEM certificates are needed")
	}
	return s.Store.UpdateController(ctx, func(c *model.Controller) error {
		assign(&c.MetadataURL, u.MetadataURL)
		assign(&c.CallbackURL, u.CallbackURL)
		assign(&c.WebhookURL, u.WebhookURL)
		assign(&c.AgentURL, u.AgentURL)
		assign(&c.AgentReleasesURL, u.AgentReleasesURL)
		assign(&c.JobBackoff, u.JobBackoff)
		assign(&c.EnableAgentToolsSync, u.EnableAgentToolsSync)
		if u.ClearCACertBundle {
			c.CACertBundle = nil
		}
		if len(u.CACertBundle) > 0 {
			c.CACertBundle = u.CACertBundle
		}
		return nil
	})
}

// SeedController fills URLs that the row does not have yet.
func (s *Service) SeedController(ctx context.Context, metadata, callback, webhook string) error {
	_, err := s.Store.UpdateController(ctx, func(c *model.Controller) error {
		for _, seed := range []struct {
			to   *string
			from string
		}{{&c.MetadataURL, metadata}, {&c.CallbackURL, callback}, {&c.WebhookURL, webhook}} {
			if *seed.to == "" {
				*seed.to = seed.from
			}
		}
		return nil
	})
	return err
}

// assign sets a value where there is a new one.
func assign[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// isCertificates says whether data is one or more PEM certificates.
func isCertificates(data []byte) bool {
	found := false
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return found
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		found = true
	}
}
