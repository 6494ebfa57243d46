package sqlstore

import (
	"context"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// keptEvents bounds the history of an entity, and that of an instance.
const keptEvents = 30

var entities = table[model.Entity]{
	name: "entities", key: "id", order: "entities.created_at, entities.id",
	joins: "JOIN credentials ON credentials.id = entities.credentials_id JOIN endpoints ON endpoints.name = credentials.endpoint",
	own: func(e *model.Entity) []field {
		return []field{
			{"id", &e.ID},
			{"kind", &e.Kind},
			{"owner", &e.Owner},
			{"name", &e.Name},
			{"endpoint", &e.Credentials.Endpoint.Name},
			{"credentials_id", rowID[model.CredentialsID]{&e.Credentials.ID}},
			{"balancer", &e.Balancer},
			{"agent_mode", &e.AgentMode},
			{"created_at", nanos{&e.CreatedAt}},
			{"updated_at", nanos{&e.UpdatedAt}},
		}
	},
	joined: func(e *model.Entity) []field {
		return append(prefixed("credentials", credentialsFields(&e.Credentials)), prefixed("endpoints", endpointFields(&e.Credentials.Endpoint))...)
	},
}

func noEntity() error { return model.NotFound("not found") }

// Entities returns all entities.
func (s *Store) Entities(ctx context.Context) ([]model.Entity, error) {
	return entities.list(ctx, s.reader, "")
}

// EntitiesOfKind returns the entities of one kind.
func (s *Store) EntitiesOfKind(ctx context.Context, kind model.EntityKind) ([]model.Entity, error) {
	return entities.list(ctx, s.reader, "entities.kind = ?", kind)
}

// EntitiesOfCredentials returns the entities that use credentials.
func (s *Store) EntitiesOfCredentials(ctx context.Context, id model.CredentialsID) ([]model.Entity, error) {
	return entities.list(ctx, s.reader, "entities.credentials_id = ?", uint(id))
}

// Entity returns an entity by id.
func (s *Store) Entity(ctx context.Context, id model.EntityID) (model.Entity, error) {
	return entities.one(ctx, s.reader, noEntity(), "entities.id = ?", id)
}

// CreateEntity adds an entity, whose credentials are named by id, with its webhook secret.
func (s *Store) CreateEntity(ctx context.Context, e model.Entity, webhookSecret []byte) (model.Entity, error) {
	sealed, err := s.seal.seal(webhookSecretPurpose, webhookSecret)
	if err != nil {
		return model.Entity{}, err
	}
	err = s.write(ctx, "creating the entity", func(t *tx) error {
		if e.Credentials, err = credentials.one(ctx, t, noCredentials(), "credentials.id = ?", uint(e.Credentials.ID)); err != nil {
			return err
		}
		e.ID = model.EntityID(uuid.NewString())
		e.CreatedAt = s.now().UTC()
		e.UpdatedAt = e.CreatedAt
		if _, err := entities.insert(ctx, t, &e, field{"webhook_secret", sealed}); err != nil {
			if isDuplicate(err) {
				return model.Conflict("%s %s already exists", e.Kind, e.FullName())
			}
			return err
		}
		t.changed(model.OpCreate, e)
		return nil
	})
	return e, err
}

// UpdateEntity changes an entity and what is known of its webhook by update; other credentials are named by id. Where
// update changes nothing, nothing is written.
func (s *Store) UpdateEntity(ctx context.Context, id model.EntityID, update func(e *model.Entity, webhook *model.WebhookState) error) (model.Entity, error) {
	var e model.Entity
	err := s.write(ctx, "updating the entity", func(t *tx) (err error) {
		if e, err = entities.one(ctx, t, noEntity(), "entities.id = ?", id); err != nil {
			return err
		}
		webhook, sealed, err := s.webhookState(ctx, t, id)
		if err != nil {
			return err
		}
		before, webhookBefore := e, webhook
		if err := update(&e, &webhook); err != nil {
			return err
		}
		if sameWebhookState(webhookBefore, webhook) && reflect.DeepEqual(before, e) {
			return nil
		}
		fields, err := s.webhookFields(webhookBefore, webhook, sealed)
		if err != nil {
			return err
		}
		e.UpdatedAt = s.now().UTC()
		t.changed(model.OpUpdate, e)
		return entities.update(ctx, t, id, &e, fields...)
	})
	return e, err
}

// DeleteEntity removes an entity that has no pools.
func (s *Store) DeleteEntity(ctx context.Context, id model.EntityID) error {
	return s.write(ctx, "deleting the entity", func(t *tx) error {
		e, err := entities.one(ctx, t, noEntity(), "entities.id = ?", id)
		if err != nil {
			return err
		}
		left, err := pools.list(ctx, t, "pools.entity_id = ?", id)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			ids := make([]string, len(left))
			for i, p := range left {
				ids[i] = string(p.ID)
			}
			return model.Invalid("%s has pools defined (%s)", e.Kind, strings.Join(ids, ", "))
		}
		t.changed(model.OpDelete, e)
		_, err = t.ExecContext(ctx, "DELETE FROM entities WHERE id = ?", id)
		return err
	})
}

var entityEvents = table[model.EntityEvent]{
	name: "entity_events", key: "id", order: "entity_events.id",
	own: func(e *model.EntityEvent) []field {
		return []field{
			{"id", rowID[uint]{&e.ID}},
			{"level", &e.Level},
			{"message", &e.Message},
			{"created_at", nanos{&e.CreatedAt}},
		}
	},
}

// EntityEvents returns the newest events of an entity, the oldest first.
func (s *Store) EntityEvents(ctx context.Context, id model.EntityID) ([]model.EntityEvent, error) {
	return entityEvents.list(ctx, s.reader, "entity_events.entity_id = ?", id)
}

// AddEntityEvent appends to the history of an entity; the oldest events go. What the API shows of the entity changes by it,
// so those who follow the entity are told. A missing entity is no error.
func (s *Store) AddEntityEvent(ctx context.Context, id model.EntityID, level model.EventLevel, message string) error {
	return s.write(ctx, "adding an event", func(t *tx) error {
		e, err := entities.one(ctx, t, noEntity(), "entities.id = ?", id)
		if err != nil {
			if model.IsNotFound(err) {
				return nil
			}
			return err
		}
		event := model.EntityEvent{CreatedAt: s.now().UTC(), Level: level, Message: message}
		if _, err := entityEvents.insert(ctx, t, &event, field{"entity_id", id}); err != nil {
			return err
		}
		e.UpdatedAt = s.now().UTC()
		t.changed(model.OpUpdate, e)
		if err := entities.update(ctx, t, id, &e); err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, "DELETE FROM entity_events WHERE entity_id = ?1 AND id NOT IN (SELECT id FROM entity_events WHERE entity_id = ?1 ORDER BY id DESC LIMIT ?2)", id, keptEvents)
		return err
	})
}
