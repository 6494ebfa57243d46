package auth

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	issuer = "garm"
	// InstanceMargin is how much longer than its runner's bootstrap an instance token lives.
	InstanceMargin = 5 * time.Minute
)

// ErrToken is a token that is not accepted. It does not say why: the caller has no use for it.
var ErrToken = errors.New("the token is not valid")

// Tokens makes and reads tokens. Secret signs them (HS256). Life is that of users' tokens.
type Tokens struct {
	Secret string
	Life   time.Duration
	// Now is the clock; time.Now by default.
	Now func() time.Time
}

// UserClaims is what a user's token says; ReadMetrics without a User is a token for reading metrics.
type UserClaims struct {
	User        model.UserID `json:"user,omitempty"`
	TokenID     string       `json:"token_id"`
	FullName    string       `json:"full_name"`
	IsAdmin     bool         `json:"is_admin"`
	ReadMetrics bool         `json:"read_metrics"`
	Generation  uint         `json:"generation"`
	jwt.RegisteredClaims
}

// InstanceClaims is what the token of an instance says. ProviderID holds the id of the pool, for old readers.
type InstanceClaims struct {
	ID            model.InstanceID `json:"id"`
	Name          string           `json:"name"`
	ProviderID    model.PoolID     `json:"provider_id"`
	Scope         model.EntityKind `json:"scope"`
	Entity        string           `json:"entity"`
	CreateAttempt int              `json:"create_attempt"`
	ForgeType     model.ForgeType  `json:"forge_type"`
	IsAgent       bool             `json:"is_agent"`
	jwt.RegisteredClaims
}

func (t *Tokens) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

func (t *Tokens) registered(life time.Duration) jwt.RegisteredClaims {
	return jwt.RegisteredClaims{Issuer: issuer, ExpiresAt: jwt.NewNumericDate(t.now().Add(life))}
}

func (t *Tokens) sign(claims jwt.Claims) (string, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(t.Secret))
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return token, nil
}

// UserToken makes the token of a user.
func (t *Tokens) UserToken(user model.User) (string, error) {
	return t.sign(UserClaims{
		User: user.ID, TokenID: rand.Text()[:16], FullName: user.FullName, IsAdmin: user.IsAdmin, Generation: user.Generation,
		RegisteredClaims: t.registered(t.Life),
	})
}

// MetricsToken makes a token that is good for reading metrics and for nothing else.
func (t *Tokens) MetricsToken() (string, error) {
	return t.sign(UserClaims{TokenID: rand.Text()[:16], ReadMetrics: true, RegisteredClaims: t.registered(t.Life)})
}

// InstanceToken makes a token that is good for one create attempt of an instance. It outlives life, the time that the
// bootstrap may take, by InstanceMargin.
func (t *Tokens) InstanceToken(instance model.Instance, entity model.Entity, life time.Duration) (string, error) {
	return t.sign(InstanceClaims{
		ID: instance.ID, Name: instance.Name, ProviderID: instance.PoolID, Scope: entity.Kind, Entity: entity.FullName(),
		CreateAttempt: instance.CreateAttempt, ForgeType: entity.Endpoint().Type, RegisteredClaims: t.registered(life + InstanceMargin),
	})
}

// User reads the token of a user or of a reader of metrics.
func (t *Tokens) User(token string) (UserClaims, error) {
	var claims UserClaims
	return claims, t.parse(token, &claims)
}

// Instance reads the token of an instance.
func (t *Tokens) Instance(token string) (InstanceClaims, error) {
	var claims InstanceClaims
	if err := t.parse(token, &claims); err != nil || claims.ID == "" || claims.IsAgent {
		return InstanceClaims{}, ErrToken
	}
	return claims, nil
}

func (t *Tokens) parse(token string, claims jwt.Claims) error {
	_, err := jwt.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return []byte(t.Secret), nil },
		jwt.WithValidMethods([]string{"HS256", "HS384", "HS512"}), jwt.WithIssuer(issuer), jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.now))
	if err != nil {
		return ErrToken
	}
	return nil
}
