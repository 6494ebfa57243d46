package sqlstore

import (
	"context"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

var users = table[model.User]{
	name: "users", key: "id", order: "users.created_at",
	own: func(u *model.User) []field {
		return []field{
			{"id", &u.ID},
			{"username", &u.Username},
			{"email", &u.Email},
			{"full_name", &u.FullName},
			{"password_hash", &u.PasswordHash},
			{"enabled", &u.Enabled},
			{"is_admin", &u.IsAdmin},
			{"generation", &u.Generation},
			{"created_at", nanos{&u.CreatedAt}},
			{"updated_at", nanos{&u.UpdatedAt}},
		}
	},
}

// HasAdmin says whether there is an administrator.
func (s *Store) HasAdmin(ctx context.Context) (bool, error) {
	rows, err := users.list(ctx, s.reader, "users.is_admin = 1")
	return len(rows) > 0, err
}

// CreateAdmin makes the first administrator. A second one is a conflict, also when both are made at once.
func (s *Store) CreateAdmin(ctx context.Context, u model.User) (model.User, error) {
	err := s.write(ctx, "creating the administrator", func(t *tx) error {
		rows, err := users.list(ctx, t, "users.is_admin = 1")
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return model.Conflict("already initialized")
		}
		u.ID = model.UserID(uuid.NewString())
		u.CreatedAt = s.now().UTC()
		u.UpdatedAt = u.CreatedAt
		if _, err := users.insert(ctx, t, &u); err != nil {
			return err
		}
		t.changed(model.OpCreate, u)
		return nil
	})
	return u, err
}

// User returns a user by id.
func (s *Store) User(ctx context.Context, id model.UserID) (model.User, error) {
	return users.one(ctx, s.reader, model.NotFound("there is no such user"), "users.id = ?", id)
}

// UserByLogin returns a user by name or e-mail address.
func (s *Store) UserByLogin(ctx context.Context, login string) (model.User, error) {
	return users.one(ctx, s.reader, model.NotFound("there is no such user"), "users.username = ?1 OR users.email = ?1", login)
}

// UpdateUser changes a user by update.
func (s *Store) UpdateUser(ctx context.Context, id model.UserID, update func(*model.User) error) (model.User, error) {
	var u model.User
	err := s.write(ctx, "updating the user", func(t *tx) (err error) {
		if u, err = users.one(ctx, t, model.NotFound("there is no such user"), "users.id = ?", id); err != nil {
			return err
		}
		if err := update(&u); err != nil {
			return err
		}
		u.UpdatedAt = s.now().UTC()
		t.changed(model.OpUpdate, u)
		return users.update(ctx, t, id, &u)
	})
	return u, err
}
