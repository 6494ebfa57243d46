package service

import (
	"context"
	"crypto/x509"
	"encoding/pem"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// NewCredentials is what credentials are made of. A nil secret was not given.
type NewCredentials struct {
	Name, Description string
	Endpoint          model.EndpointName
	AuthType          model.AuthType
	Token             *string
	App               *AppSecret
}

// AppSecret is the secret of a GitHub App.
type AppSecret struct {
	AppID, InstallationID int64
	PrivateKey            []byte
}

// String keeps the key out of logs.
func (AppSecret) String() string { return "[redacted]" }

// GoString keeps the key out of logs.
func (AppSecret) GoString() string { return "[redacted]" }

// CredentialsUpdate is a change of credentials; a nil field stays as it is.
type CredentialsUpdate struct {
	Name, Description *string
	Token             *string
	App               *AppSecret
}

// CredentialsUse is what uses credentials.
type CredentialsUse struct {
	Credentials model.Credentials
	Entities    []model.Entity
}

// AllCredentials returns all credentials.
func (s *Service) AllCredentials(ctx context.Context) ([]model.Credentials, error) {
	return s.Store.AllCredentials(ctx)
}

// Credentials returns credentials by id, with what uses them.
func (s *Service) Credentials(ctx context.Context, id model.CredentialsID) (CredentialsUse, error) {
	c, err := s.Store.Credentials(ctx, id)
	if err != nil {
		return CredentialsUse{}, err
	}
	users, err := s.Store.EntitiesOfCredentials(ctx, id)
	return CredentialsUse{c, users}, err
}

// CreateCredentials adds credentials for an endpoint.
func (s *Service) CreateCredentials(ctx context.Context, n NewCredentials) (model.Credentials, error) {
	c := model.Credentials{Name: n.Name, Description: n.Description, Endpoint: model.Endpoint{Name: n.Endpoint}, AuthType: n.AuthType}
	var secret model.ForgeSecret
	switch {
	case n.Name == "":
		return c, model.Invalid("missing name")
	case n.Endpoint == "":
		return c, model.Invalid("missing endpoint")
	case n.AuthType == model.AuthPAT:
		if n.Token == nil || *n.Token == "" {
			return c, model.Invalid("missing oauth2_token")
		}
		secret.Token = *n.Token
	case n.AuthType == model.AuthApp:
		if n.App == nil {
			return c, model.Invalid("missing app: auth_type app needs app_id, installation_id and private_key_bytes")
		}
		if err := n.App.check(); err != nil {
			return c, err
		}
		secret = n.App.secret()
	default:
		return c, model.Invalid("invalid auth_type: it must be pat or app")
	}
	return s.Store.CreateCredentials(ctx, c, secret)
}

// UpdateCredentials changes credentials. Endpoint and auth type stay.
func (s *Service) UpdateCredentials(ctx context.Context, id model.CredentialsID, u CredentialsUpdate) (model.Credentials, error) {
	return s.Store.UpdateCredentials(ctx, id, func(c *model.Credentials, secret *model.ForgeSecret) error {
		switch {
		case u.Name != nil && *u.Name == "":
			return model.Invalid("missing name")
		case u.Token != nil && u.App != nil:
			return model.Invalid("pat and app cannot both be given")
		case u.Token != nil && c.AuthType != model.AuthPAT:
			return model.Invalid("cannot update PAT credentials for app")
		case u.App != nil && c.AuthType != model.AuthApp:
			return model.Invalid("cannot update app credentials for PAT")
		case u.Token != nil && *u.Token == "":
			return model.Invalid("missing oauth2_token")
		}
		if u.App != nil {
			if err := u.App.check(); err != nil {
				return err
			}
			*secret = u.App.secret()
		}
		assign(&c.Name, u.Name)
		assign(&c.Description, u.Description)
		assign(&secret.Token, u.Token)
		return nil
	})
}

// DeleteCredentials removes credentials that nothing uses. Missing ones are no error.
func (s *Service) DeleteCredentials(ctx context.Context, id model.CredentialsID) error {
	return s.Store.DeleteCredentials(ctx, id)
}

func (a AppSecret) secret() model.ForgeSecret {
	return model.ForgeSecret{AppID: a.AppID, InstallationID: a.InstallationID, PrivateKey: a.PrivateKey}
}

func (a AppSecret) check() error {
	switch {
	case a.AppID == 0:
		return model.Invalid("invalid app: missing app_id")
	case a.InstallationID == 0:
		return model.Invalid("invalid app: missing installation_id")
	case len(a.PrivateKey) == 0:
		return model.Invalid("invalid app: missing private_key_bytes")
	}
	block, _ := pem.Decode(a.PrivateKey)
	if block == nil {
		return model.Invalid("invalid app: invalid private_key_bytes: a PEM RSA private key (PKCS#1) is needed")
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		return model.Invalid("invalid app: invalid private_key_bytes: a PEM RSA private key (PKCS#1) is needed")
	}
	return nil
}
