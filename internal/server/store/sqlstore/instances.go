package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

const jitPurpose = "just-in-time configuration"

var instances = table[model.Instance]{
	name: "instances", key: "id", order: "instances.created_at, instances.id",
	joins: "JOIN pools ON pools.id = instances.pool_id JOIN entities ON entities.id = pools.entity_id",
	own: func(i *model.Instance) []field {
		return []field{
			{"id", &i.ID},
			{"name", &i.Name},
			{"pool_id", &i.PoolID},
			{"provider_id", &i.ProviderID},
			{"provider_fault", &i.ProviderFault},
			{"agent_id", &i.AgentID},
			{"os_type", &i.OSType},
			{"os_arch", &i.OSArch},
			{"os_name", &i.OSName},
			{"os_version", &i.OSVersion},
			{"addresses", asJSON{&i.Addresses}},
			{"status", &i.Status},
			{"runner_status", &i.RunnerStatus},
			{"runner_group", &i.RunnerGroup},
			{"generation", &i.Generation},
			{"create_attempt", &i.CreateAttempt},
			{"token_fetched", &i.TokenFetched},
			{"token_fetched_at", nanos{&i.TokenFetchedAt}},
			{"jit", &i.JIT},
			{"for_job", &i.ForJob},
			{"deleting_from", &i.DeletingFrom},
			{"retry_at", nanos{&i.RetryAt}},
			{"failures", &i.Failures},
			{"created_at", nanos{&i.CreatedAt}},
			{"updated_at", nanos{&i.UpdatedAt}},
		}
	},
	joined: func(i *model.Instance) []field {
		return []field{{"pools.provider_name", &i.ProviderName}, {"entities.id", &i.EntityID}, {"entities.kind", &i.EntityKind}}
	},
}

func noInstance() error { return model.NotFound("instance not found") }

// Instances returns all instances.
func (s *Store) Instances(ctx context.Context) ([]model.Instance, error) {
	return instances.list(ctx, s.reader, "")
}

// InstancesOfEntity returns the instances of all pools of an entity.
func (s *Store) InstancesOfEntity(ctx context.Context, id model.EntityID) ([]model.Instance, error) {
	return instances.list(ctx, s.reader, "pools.entity_id = ?", id)
}

// InstancesOfPool returns the instances of a pool.
func (s *Store) InstancesOfPool(ctx context.Context, id model.PoolID) ([]model.Instance, error) {
	return instances.list(ctx, s.reader, "instances.pool_id = ?", id)
}

// Instance returns an instance by id.
func (s *Store) Instance(ctx context.Context, id model.InstanceID) (model.Instance, error) {
	return instances.one(ctx, s.reader, noInstance(), "instances.id = ?", id)
}

// InstanceByName returns an instance by name, whatever its letter case.
func (s *Store) InstanceByName(ctx context.Context, name string) (model.Instance, error) {
	return instances.one(ctx, s.reader, noInstance(), "instances.name = ?", name)
}

// ReserveInstances inserts the rows that plan makes of a pool and its rows. All is one transaction, so no two callers
// can take the same slot; more rows than the pool may have are an error, and then none is inserted.
func (s *Store) ReserveInstances(ctx context.Context, id model.PoolID, plan func(model.Pool, []model.Instance) []model.Instance) ([]model.Instance, error) {
	var made []model.Instance
	err := s.write(ctx, "reserving instances", func(t *tx) error {
		pool, err := pools.one(ctx, t, noPool(), "pools.id = ?", id)
		if err != nil {
			return err
		}
		rows, err := instances.list(ctx, t, "instances.pool_id = ?", id)
		if err != nil {
			return err
		}
		planned := plan(pool, rows)
		if len(planned) > 0 && len(rows)+len(planned) > int(pool.MaxRunners) {
			return model.Conflict("pool %s may have %d runners, has %d, and %d more were planned", id, pool.MaxRunners, len(rows), len(planned))
		}
		made = nil
		for _, row := range planned {
			if row.ID == "" {
				row.ID = model.InstanceID(uuid.NewString())
			}
			row.PoolID, row.EntityID, row.EntityKind, row.ProviderName = pool.ID, pool.EntityID, pool.EntityKind, pool.ProviderName
			row.CreatedAt = s.now().UTC()
			row.UpdatedAt = row.CreatedAt
			if _, err := instances.insert(ctx, t, &row); err != nil {
				if isDuplicate(err) {
					return model.Conflict("an instance %q already exists", row.Name)
				}
				return fmt.Errorf("inserting an instance: %w", err)
			}
			t.changed(model.OpCreate, row)
			made = append(made, row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// UpdateInstance changes an instance by update; its error is returned as it is. Where update changes nothing, nothing is
// written; UpdatedAt moves only with what users see.
func (s *Store) UpdateInstance(ctx context.Context, id model.InstanceID, update func(*model.Instance) error) (model.Instance, error) {
	return s.updateInstance(ctx, id, update, nil)
}

func (s *Store) updateInstance(ctx context.Context, id model.InstanceID, update func(*model.Instance) error, extra []field) (model.Instance, error) {
	var i model.Instance
	err := s.write(ctx, "updating the instance", func(t *tx) (err error) {
		if i, err = instances.one(ctx, t, noInstance(), "instances.id = ?", id); err != nil {
			return err
		}
		before := i
		if err := update(&i); err != nil {
			return err
		}
		if len(extra) == 0 && reflect.DeepEqual(before, i) {
			return nil
		}
		if !reflect.DeepEqual(visible(before), visible(i)) {
			i.UpdatedAt = s.now().UTC()
		}
		if err := instances.update(ctx, t, id, &i, extra...); err != nil {
			return err
		}
		t.changed(model.OpUpdate, i)
		return nil
	})
	return i, err
}

// visible blanks what users do not see.
func visible(i model.Instance) model.Instance {
	i.CreateAttempt, i.TokenFetched, i.DeletingFrom, i.Failures, i.ForJob, i.JIT = 0, false, "", 0, 0, false
	i.RetryAt, i.TokenFetchedAt = i.CreatedAt, i.CreatedAt
	return i
}

// DeleteInstance removes an instance with its messages and its configuration. A missing one is no error.
func (s *Store) DeleteInstance(ctx context.Context, id model.InstanceID) error {
	return s.write(ctx, "deleting the instance", func(t *tx) error {
		i, err := instances.one(ctx, t, noInstance(), "instances.id = ?", id)
		if model.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		t.changed(model.OpDelete, i)
		_, err = t.ExecContext(ctx, "DELETE FROM instances WHERE id = ?", id)
		return err
	})
}

var instanceMessages = table[model.InstanceMessage]{
	name: "instance_messages", key: "id", order: "instance_messages.id",
	own: func(m *model.InstanceMessage) []field {
		return []field{{"kind", &m.Kind}, {"level", &m.Level}, {"message", &m.Message}, {"created_at", nanos{&m.CreatedAt}}}
	},
}

// InstanceMessages returns the newest messages of an instance, the oldest first.
func (s *Store) InstanceMessages(ctx context.Context, id model.InstanceID) ([]model.InstanceMessage, error) {
	return instanceMessages.list(ctx, s.reader, "instance_messages.instance_id = ?", id)
}

// AddInstanceMessage appends to the history of an instance; the oldest messages go. A missing instance is no error.
func (s *Store) AddInstanceMessage(ctx context.Context, id model.InstanceID, message model.InstanceMessage) error {
	return s.write(ctx, "adding a message", func(t *tx) error {
		if _, err := instances.one(ctx, t, noInstance(), "instances.id = ?", id); err != nil {
			if model.IsNotFound(err) {
				return nil
			}
			return err
		}
		message.CreatedAt = s.now().UTC()
		if _, err := instanceMessages.insert(ctx, t, &message, field{"instance_id", id}); err != nil {
			return err
		}
		t.written = true
		_, err := t.ExecContext(ctx, "DELETE FROM instance_messages WHERE instance_id = ?1 AND id NOT IN (SELECT id FROM instance_messages WHERE instance_id = ?1 ORDER BY id DESC LIMIT ?2)", id, keptEvents)
		return err
	})
}

// SetJITConfig seals and keeps the just-in-time configuration of an instance, and marks the row.
func (s *Store) SetJITConfig(ctx context.Context, id model.InstanceID, agentID int64, config model.JITConfig) (model.Instance, error) {
	sealed, err := s.seal.sealJSON(jitPurpose, map[string][]byte(config))
	if err != nil {
		return model.Instance{}, err
	}
	return s.updateInstance(ctx, id, func(i *model.Instance) error {
		i.JIT, i.AgentID = true, agentID
		return nil
	}, []field{{"jit_config", sealed}})
}

// JITConfig opens the just-in-time configuration of an instance.
func (s *Store) JITConfig(ctx context.Context, id model.InstanceID) (model.JITConfig, error) {
	var sealed []byte
	err := s.reader.QueryRowContext(ctx, "SELECT jit_config FROM instances WHERE id = ?", id).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(sealed) == 0 {
		return nil, model.NotFound("the instance has no just-in-time configuration")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a just-in-time configuration: %w", err)
	}
	config := model.JITConfig{}
	err = s.seal.openJSON(jitPurpose, sealed, (*map[string][]byte)(&config))
	return config, err
}
