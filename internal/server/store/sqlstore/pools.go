package sqlstore

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

var pools = table[model.Pool]{
	name: "pools", key: "id", order: "pools.created_at, pools.id",
	joins: "JOIN entities ON entities.id = pools.entity_id JOIN endpoints ON endpoints.name = entities.endpoint",
	own: func(p *model.Pool) []field {
		return []field{
			{"id", &p.ID},
			{"entity_id", &p.EntityID},
			{"provider_name", &p.ProviderName},
			{"runner_prefix", &p.RunnerPrefix},
			{"image", &p.Image},
			{"flavor", &p.Flavor},
			{"os_type", &p.OSType},
			{"os_arch", &p.OSArch},
			{"max_runners", &p.MaxRunners},
			{"min_idle_runners", &p.MinIdleRunners},
			{"enabled", &p.Enabled},
			{"bootstrap_timeout", &p.BootstrapTimeout},
			{"extra_specs", (*[]byte)(&p.ExtraSpecs)},
			{"runner_group", &p.RunnerGroup},
			{"priority", &p.Priority},
			{"enable_shell", &p.EnableShell},
			{"template_id", &p.TemplateID},
			{"template_name", &p.TemplateName},
			{"generation", &p.Generation},
			{"created_at", nanos{&p.CreatedAt}},
			{"updated_at", nanos{&p.UpdatedAt}},
		}
	},
	joined: func(p *model.Pool) []field {
		return append(prefixed("endpoints", endpointFields(&p.Endpoint)),
			field{"entities.kind", &p.EntityKind},
			field{"CASE entities.kind WHEN 'repository' THEN entities.owner || '/' || entities.name ELSE entities.name END", &p.EntityName},
			field{tagsOfPool, asJSON{&p.Tags}})
	},
}

// tagsOfPool reads the tags of a pool as a JSON list, so that a list of pools is one query.
const tagsOfPool = `(SELECT coalesce(json_group_array(json_object('ID', t.id, 'Name', t.name)), '[]') FROM
	(SELECT tags.id, tags.name FROM pool_tags JOIN tags ON tags.id = pool_tags.tag_id WHERE pool_tags.pool_id = pools.id ORDER BY pool_tags.position) t)`

func noPool() error { return model.NotFound("pool not found") }

// Pools returns all pools.
func (s *Store) Pools(ctx context.Context) ([]model.Pool, error) {
	return pools.list(ctx, s.reader, "")
}

// PoolsOfEntity returns the pools of an entity.
func (s *Store) PoolsOfEntity(ctx context.Context, id model.EntityID) ([]model.Pool, error) {
	return pools.list(ctx, s.reader, "pools.entity_id = ?", id)
}

// Pool returns a pool by id.
func (s *Store) Pool(ctx context.Context, id model.PoolID) (model.Pool, error) {
	return pools.one(ctx, s.reader, noPool(), "pools.id = ?", id)
}

// CreatePool adds a pool to an existing entity. Tags are given by name.
func (s *Store) CreatePool(ctx context.Context, p model.Pool) (model.Pool, error) {
	err := s.write(ctx, "creating the pool", func(t *tx) error {
		if _, err := entities.one(ctx, t, noEntity(), "entities.id = ?", p.EntityID); err != nil {
			return err
		}
		p.ID = model.PoolID(uuid.NewString())
		p.CreatedAt = s.now().UTC()
		p.UpdatedAt = p.CreatedAt
		if _, err := pools.insert(ctx, t, &p); err != nil {
			return err
		}
		if err := setTags(ctx, t, p.ID, p.TagNames()); err != nil {
			return err
		}
		var err error
		p, err = pools.one(ctx, t, noPool(), "pools.id = ?", p.ID)
		t.changed(model.OpCreate, p)
		return err
	})
	return p, err
}

// UpdatePool changes a pool by update; new tags are given by name. Where update changes nothing, nothing is written.
func (s *Store) UpdatePool(ctx context.Context, id model.PoolID, update func(*model.Pool) error) (model.Pool, error) {
	var p model.Pool
	err := s.write(ctx, "updating the pool", func(t *tx) (err error) {
		if p, err = pools.one(ctx, t, noPool(), "pools.id = ?", id); err != nil {
			return err
		}
		before := p
		if err := update(&p); err != nil {
			return err
		}
		sameTags := reflect.DeepEqual(before.Tags, p.Tags)
		if sameTags && reflect.DeepEqual(before, p) {
			return nil
		}
		if !sameTags {
			if err := setTags(ctx, t, id, p.TagNames()); err != nil {
				return err
			}
		}
		p.UpdatedAt = s.now().UTC()
		if err := pools.update(ctx, t, id, &p); err != nil {
			return err
		}
		p, err = pools.one(ctx, t, noPool(), "pools.id = ?", id)
		t.changed(model.OpUpdate, p)
		return err
	})
	return p, err
}

// DeletePool removes a pool that has no instances. A missing one is no error.
func (s *Store) DeletePool(ctx context.Context, id model.PoolID) error {
	return s.write(ctx, "deleting the pool", func(t *tx) error {
		p, err := pools.one(ctx, t, noPool(), "pools.id = ?", id)
		if model.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		var left int
		if err := t.QueryRowContext(ctx, "SELECT count(*) FROM instances WHERE pool_id = ?", id).Scan(&left); err != nil {
			return err
		}
		if left > 0 {
			return model.Invalid("pool has runners")
		}
		t.changed(model.OpDelete, p)
		_, err = t.ExecContext(ctx, "DELETE FROM pools WHERE id = ?", id)
		return err
	})
}

// setTags replaces the tags of a pool. A tag keeps the spelling in which it was first seen, and its id, for ever.
func setTags(ctx context.Context, t *tx, pool model.PoolID, names []string) error {
	if _, err := t.ExecContext(ctx, "DELETE FROM pool_tags WHERE pool_id = ?", pool); err != nil {
		return fmt.Errorf("removing old tags: %w", err)
	}
	seen := map[string]bool{}
	for i, name := range names {
		if seen[strings.ToLower(name)] {
			continue
		}
		seen[strings.ToLower(name)] = true
		if _, err := t.ExecContext(ctx, "INSERT INTO tags (id, name) VALUES (?, ?) ON CONFLICT DO NOTHING", uuid.NewString(), name); err != nil {
			return fmt.Errorf("adding a tag: %w", err)
		}
		if _, err := t.ExecContext(ctx, "INSERT INTO pool_tags (pool_id, position, tag_id) SELECT ?, ?, id FROM tags WHERE name = ?", pool, i, name); err != nil {
			return fmt.Errorf("adding a tag to the pool: %w", err)
		}
	}
	return nil
}
