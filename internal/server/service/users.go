package service

import (
	"context"
	"net/mail"
	"regexp"

	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// NewAdmin is what first-run is called with. Password is a secret.
type NewAdmin struct {
	Username, Email, FullName, Password string
}

// String keeps the password out of logs.
func (NewAdmin) String() string { return "[redacted]" }

// GoString keeps the password out of logs.
func (NewAdmin) GoString() string { return "[redacted]" }

// maxPassword is what bcrypt takes.
const maxPassword = 72

var alphanumeric = regexp.MustCompile(`^[a-zA-Z0-9]{1,64}$`)

// CheckUninitialized is a conflict once there is an administrator.
func (s *Service) CheckUninitialized(ctx context.Context) error {
	exists, err := s.Store.HasAdmin(ctx)
	if err == nil && exists {
		err = model.Conflict("already initialized")
	}
	return err
}

// FirstRun makes the administrator of a new server.
func (s *Service) FirstRun(ctx context.Context, n NewAdmin) (model.User, error) {
	if err := s.CheckUninitialized(ctx); err != nil {
		return model.User{}, err
	}
	address, err := mail.ParseAddress(n.Email)
	switch {
	case n.Username == "" || n.Email == "":
		return model.User{}, model.Invalid("missing username or email")
	case err != nil || address.Address != n.Email:
		return model.User{}, model.Invalid("invalid email address")
	case !alphanumeric.MatchString(n.Username):
		return model.User{}, model.Invalid("invalid username: it may have up to 64 letters and digits")
	case len(n.Password) > maxPassword: // before its strength, which takes ever longer to find out
		return model.User{}, model.Invalid("password is longer than %d bytes", maxPassword)
	case !auth.Strong(n.Password):
		return model.User{}, model.Invalid("password is too weak")
	}
	hash, err := s.passwords.hash(ctx, n.Password, s.PasswordCost)
	if err != nil {
		return model.User{}, err
	}
	return s.Store.CreateAdmin(ctx, model.User{Username: n.Username, Email: n.Email, FullName: n.FullName, PasswordHash: hash, Enabled: true, IsAdmin: true})
}

// Login returns a token for a user who is named by name or e-mail address.
func (s *Service) Login(ctx context.Context, login, password string) (string, error) {
	if login == "" || password == "" {
		return "", model.Unauthorized("missing username or password")
	}
	user, err := s.Store.UserByLogin(ctx, login)
	if err != nil && !model.IsNotFound(err) {
		return "", err
	}
	ok, err := s.passwords.check(ctx, user.PasswordHash, password)
	if err != nil {
		return "", err
	}
	if !ok || !user.Enabled {
		return "", model.Unauthorized("wrong username or password")
	}
	return s.Tokens.UserToken(user)
}

// MetricsToken returns a token that is good for reading metrics.
func (s *Service) MetricsToken() (string, error) { return s.Tokens.MetricsToken() }
