package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	webhookSecretPurpose     = "webhook secret"
	oldWebhookSecretsPurpose = "old webhook secrets"
)

// WebhookState returns what is known of the webhook of an entity.
func (s *Store) WebhookState(ctx context.Context, id model.EntityID) (model.WebhookState, error) {
	state, _, err := s.webhookState(ctx, s.reader, id)
	return state, err
}

// UpdateWebhookState changes what is known of the webhook of an entity by update. None of it is shown to users, so no time
// moves and nobody is told.
func (s *Store) UpdateWebhookState(ctx context.Context, id model.EntityID, update func(*model.WebhookState) error) error {
	return s.write(ctx, "updating the webhook of the entity", func(t *tx) error {
		state, sealed, err := s.webhookState(ctx, t, id)
		if err != nil {
			return err
		}
		before := state
		if err := update(&state); err != nil {
			return err
		}
		if sameWebhookState(before, state) {
			return nil
		}
		fields, err := s.webhookFields(before, state, sealed)
		if err != nil {
			return err
		}
		t.written = true
		return entities.set(ctx, t, id, fields)
	})
}

// EntitiesWithOldSecrets returns the entities whose webhooks may still be signed by an old secret.
func (s *Store) EntitiesWithOldSecrets(ctx context.Context) ([]model.Entity, error) {
	return entities.list(ctx, s.reader, "entities.old_webhook_secrets IS NOT NULL")
}

// sealedWebhook are the columns of secrets as they are kept.
type sealedWebhook struct{ secret, old []byte }

func (s *Store) webhookState(ctx context.Context, q querier, id model.EntityID) (state model.WebhookState, sealed sealedWebhook, err error) {
	row := q.QueryRowContext(ctx, "SELECT webhook_secret, old_webhook_secrets, webhook_told_at, webhook_installed FROM entities WHERE id = ?", id)
	err = row.Scan(&sealed.secret, &sealed.old, nanos{&state.ToldAt}, &state.Installed)
	if errors.Is(err, sql.ErrNoRows) {
		return state, sealed, noEntity()
	}
	if err != nil {
		return state, sealed, err
	}
	if state.Secret, err = s.seal.open(webhookSecretPurpose, sealed.secret); err == nil && sealed.old != nil {
		err = s.seal.openJSON(oldWebhookSecretsPurpose, sealed.old, &state.Old)
	}
	return state, sealed, err
}

// webhookFields are the columns of a state. What has not changed stays as it was sealed.
func (s *Store) webhookFields(before, state model.WebhookState, sealed sealedWebhook) (fields []field, err error) {
	if !bytes.Equal(before.Secret, state.Secret) {
		if sealed.secret, err = s.seal.seal(webhookSecretPurpose, state.Secret); err != nil {
			return nil, err
		}
	}
	switch {
	case len(state.Old) == 0:
		sealed.old = nil
	case !slices.EqualFunc(before.Old, state.Old, bytes.Equal):
		if sealed.old, err = s.seal.sealJSON(oldWebhookSecretsPurpose, state.Old); err != nil {
			return nil, err
		}
	}
	return []field{
		{"webhook_secret", sealed.secret},
		{"old_webhook_secrets", sealed.old},
		{"webhook_told_at", nanos{&state.ToldAt}},
		{"webhook_installed", state.Installed},
	}, nil
}

func sameWebhookState(a, b model.WebhookState) bool {
	return a.Installed == b.Installed && a.ToldAt.Equal(b.ToldAt) && bytes.Equal(a.Secret, b.Secret) && slices.EqualFunc(a.Old, b.Old, bytes.Equal)
}
