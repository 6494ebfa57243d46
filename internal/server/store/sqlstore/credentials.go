package sqlstore

import (
	"context"
	"fmt"
	"reflect"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

const forgeSecretPurpose = "forge credentials"

var credentials = table[model.Credentials]{
	name: "credentials", key: "id", order: "credentials.id",
	joins: "JOIN endpoints ON endpoints.name = credentials.endpoint",
	own: func(c *model.Credentials) []field {
		return append(credentialsFields(c), field{"endpoint", &c.Endpoint.Name}, field{"forge_type", &c.Endpoint.Type})
	},
	joined: func(c *model.Credentials) []field { return prefixed("endpoints", endpointFields(&c.Endpoint)) },
}

func credentialsFields(c *model.Credentials) []field {
	return []field{
		{"id", rowID[model.CredentialsID]{&c.ID}},
		{"name", &c.Name},
		{"description", &c.Description},
		{"auth_type", &c.AuthType},
		{"revision", &c.Revision},
		{"created_at", nanos{&c.CreatedAt}},
		{"updated_at", nanos{&c.UpdatedAt}},
	}
}

func noCredentials() error { return model.NotFound("github credentials not found") }

// AllCredentials returns all credentials, without their secrets.
func (s *Store) AllCredentials(ctx context.Context) ([]model.Credentials, error) {
	return credentials.list(ctx, s.reader, "")
}

// Credentials returns credentials by id.
func (s *Store) Credentials(ctx context.Context, id model.CredentialsID) (model.Credentials, error) {
	return credentials.one(ctx, s.reader, noCredentials(), "credentials.id = ?", uint(id))
}

// CredentialsByName returns the credentials of a name for a type of forge; an empty type is that of GitHub.
func (s *Store) CredentialsByName(ctx context.Context, name string, forge model.ForgeType) (model.Credentials, error) {
	if forge == "" {
		forge = model.ForgeGitHub
	}
	return credentials.one(ctx, s.reader, noCredentials(), "credentials.name = ? AND credentials.forge_type = ?", name, forge)
}

// CreateCredentials adds credentials for an existing endpoint.
func (s *Store) CreateCredentials(ctx context.Context, c model.Credentials, secret model.ForgeSecret) (model.Credentials, error) {
	sealed, err := s.seal.sealJSON(forgeSecretPurpose, secret)
	if err != nil {
		return model.Credentials{}, err
	}
	err = s.write(ctx, "creating the credentials", func(t *tx) error {
		endpoint, err := endpoints.one(ctx, t, model.NotFound("github endpoint not found"), "endpoints.name = ?", c.Endpoint.Name)
		if err != nil {
			return err
		}
		c.Endpoint = endpoint
		c.Revision = 1
		c.CreatedAt = s.now().UTC()
		c.UpdatedAt = c.CreatedAt
		id, err := credentials.insert(ctx, t, &c, field{"secret", sealed})
		if isDuplicate(err) {
			return model.Conflict("github credentials %q already exist", c.Name)
		}
		c.ID = model.CredentialsID(id)
		t.changed(model.OpCreate, c)
		return err
	})
	return c, err
}

// ForgeSecret opens the secret of credentials.
func (s *Store) ForgeSecret(ctx context.Context, id model.CredentialsID) (model.ForgeSecret, error) {
	secret, _, err := s.forgeSecret(ctx, s.reader, id)
	return secret, err
}

func (s *Store) forgeSecret(ctx context.Context, q querier, id model.CredentialsID) (secret model.ForgeSecret, sealed []byte, err error) {
	rows, err := q.QueryContext(ctx, "SELECT secret FROM credentials WHERE id = ?", uint(id))
	if err != nil {
		return secret, nil, fmt.Errorf("reading the secret of credentials %d: %w", id, err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return secret, nil, err
		}
		return secret, nil, noCredentials()
	}
	if err := rows.Scan(&sealed); err != nil {
		return secret, nil, err
	}
	err = s.seal.openJSON(forgeSecretPurpose, sealed, &secret)
	return secret, sealed, err
}

// UpdateCredentials changes credentials and their secret by update. Where update changes nothing, nothing is written.
func (s *Store) UpdateCredentials(ctx context.Context, id model.CredentialsID, update func(*model.Credentials, *model.ForgeSecret) error) (model.Credentials, error) {
	var c model.Credentials
	err := s.write(ctx, "updating the credentials", func(t *tx) (err error) {
		if c, err = credentials.one(ctx, t, noCredentials(), "credentials.id = ?", uint(id)); err != nil {
			return err
		}
		secret, sealed, err := s.forgeSecret(ctx, t, id)
		if err != nil {
			return err
		}
		before, secretBefore := c, secret
		if err := update(&c, &secret); err != nil {
			return err
		}
		sameSecret := reflect.DeepEqual(secretBefore, secret)
		if sameSecret && reflect.DeepEqual(before, c) {
			return nil
		}
		if !sameSecret {
			c.Revision++
			if sealed, err = s.seal.sealJSON(forgeSecretPurpose, secret); err != nil {
				return err
			}
		}
		c.UpdatedAt = s.now().UTC()
		err = credentials.update(ctx, t, uint(id), &c, field{"secret", sealed})
		if isDuplicate(err) {
			return model.Conflict("github credentials %q already exist", c.Name)
		}
		t.changed(model.OpUpdate, c)
		return err
	})
	return c, err
}

// DeleteCredentials removes credentials that no entity uses. Missing ones are no error.
func (s *Store) DeleteCredentials(ctx context.Context, id model.CredentialsID) error {
	return s.write(ctx, "deleting the credentials", func(t *tx) error {
		c, err := credentials.one(ctx, t, noCredentials(), "credentials.id = ?", uint(id))
		if model.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		users, err := entities.list(ctx, t, "entities.credentials_id = ?", uint(id))
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return model.Invalid("cannot delete the credentials %s: %s %s uses them", c.Name, users[0].Kind, users[0].FullName())
		}
		t.changed(model.OpDelete, c)
		_, err = t.ExecContext(ctx, "DELETE FROM credentials WHERE id = ?", uint(id))
		return err
	})
}
