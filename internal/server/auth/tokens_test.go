package auth_test

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

func newTokens() (*auth.Tokens, *clock) {
	c := &clock{time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	return &auth.Tokens{Secret: "a secret of tests", Life: 24 * time.Hour, Now: func() time.Time { return c.now }}, c
}

func TestUserToken(t *testing.T) {
	tokens, clock := newTokens()
	token, err := tokens.UserToken(model.User{ID: "u", FullName: "Admin", IsAdmin: true, Generation: 3})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := tokens.User(token)
	if err != nil || claims.User != "u" || !claims.IsAdmin || claims.Generation != 3 || len(claims.TokenID) != 16 || claims.Issuer != "garm" {
		t.Errorf("the claims are %+v, %v", claims, err)
	}
	clock.now = clock.now.Add(24*time.Hour + time.Second)
	if _, err := tokens.User(token); err == nil {
		t.Error("a token is good after its end")
	}
}

func TestForeignTokens(t *testing.T) {
	tokens, clock := newTokens()
	sign := func(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
		token, err := jwt.NewWithClaims(method, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	exp := clock.now.Add(time.Hour).Unix()
	for name, token := range map[string]string{
		"unsigned":     sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"user": "u", "iss": "garm", "exp": exp}),
		"another key":  sign(jwt.SigningMethodHS256, []byte("other"), jwt.MapClaims{"user": "u", "iss": "garm", "exp": exp}),
		"without end":  sign(jwt.SigningMethodHS256, []byte("a secret of tests"), jwt.MapClaims{"user": "u", "iss": "garm"}),
		"other issuer": sign(jwt.SigningMethodHS256, []byte("a secret of tests"), jwt.MapClaims{"user": "u", "iss": "x", "exp": exp}),
	} {
		if _, err := tokens.User(token); err == nil {
			t.Errorf("a token that is %s is good", name)
		}
	}
}

func TestInstanceToken(t *testing.T) {
	tokens, clock := newTokens()
	entity := model.Entity{Kind: model.KindRepository, Owner: "acme", Name: "widgets"}
	instance := model.Instance{ID: "i", Name: "garm-1", PoolID: "p", CreateAttempt: 2}
	const bootstrap = 40 * time.Minute
	token, err := tokens.InstanceToken(instance, entity, bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := tokens.Instance(token)
	if err != nil || claims.ID != "i" || claims.ProviderID != "p" || claims.Entity != "acme/widgets" || claims.CreateAttempt != 2 {
		t.Errorf("the claims are %+v, %v", claims, err)
	}
	t.Run("SV-6", func(t *testing.T) {
		clock.now = clock.now.Add(16 * time.Minute)
		if _, err := tokens.Instance(token); err != nil {
			t.Error("after 16 of 40 minutes the token is dead")
		}
		clock.now = clock.now.Add(bootstrap - 16*time.Minute + auth.InstanceMargin - time.Second)
		if _, err := tokens.Instance(token); err != nil {
			t.Error("the token does not outlive the bootstrap by its margin")
		}
		clock.now = clock.now.Add(2 * time.Second)
		if _, err := tokens.Instance(token); err == nil {
			t.Error("the token does not end")
		}
	})
	if user, _ := tokens.UserToken(model.User{ID: "u"}); user != "" {
		if _, err := tokens.Instance(user); err == nil {
			t.Error("a user's token is good for an instance")
		}
	}
}

func TestPasswords(t *testing.T) {
	hash, err := auth.HashPassword("xK9-pQ2v_Lm7zR4w", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !auth.CheckPassword(hash, "xK9-pQ2v_Lm7zR4w") || auth.CheckPassword(hash, "another") || auth.CheckPassword(nil, "") {
		t.Error("a password is not told from another")
	}
	if auth.Strong("password123") || !auth.Strong("xK9-pQ2v_Lm7zR4w") {
		t.Error("weak and strong passwords are mixed up")
	}
}
