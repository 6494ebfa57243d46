package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

const (
	opLogin       = "Login"
	opClientLogin = "client.Login"
	opInit        = "Init"
)

// signIn logs in, and makes the administrator first if the server has none and the configuration allows it.
func (c *Client) signIn(ctx context.Context, password string) (token, error) {
	t, err := c.tryLogin(ctx, password)
	if err == nil || !c.config.Init {
		return t, err
	}
	// A server up to v0.1.x answers 401 to a login before first-run, too.
	switch garm.KindOf(err) {
	case garm.KindInitRequired:
	case garm.KindUnauthorized:
		if !isUnauthenticated(err) {
			return token{}, err
		}
	default:
		return token{}, err
	}
	if _, initErr := c.firstRun(ctx, password); initErr != nil {
		// The server has an administrator, so that the login failed for what it says.
		if garm.KindOf(initErr) == garm.KindConflict && garm.KindOf(err) == garm.KindUnauthorized {
			return token{}, err
		}
		// Somebody else made the administrator in between.
		if garm.KindOf(initErr) != garm.KindConflict {
			return token{}, initErr
		}
	}
	return c.tryLogin(ctx, password)
}

// loginError makes a failed login the error of the call that needed it: what the server says of the login must not be
// taken for its word on the object of the call.
func loginError(err error) error {
	var e *garm.Error
	if !errors.As(err, &e) {
		return err
	}
	of := *e
	of.NotSent = true
	switch of.Kind {
	case garm.KindNotFound, garm.KindNoRoute, garm.KindInvalid, garm.KindConflict:
		of.Kind = garm.KindUnauthorized
	}
	return &of
}

func (c *Client) tryLogin(ctx context.Context, password string) (token, error) {
	c.config.Metrics.Request(opClientLogin)
	r := request{
		op: opLogin, method: http.MethodPost, path: "/auth/login",
		body: garm.LoginParams{Username: c.config.Username, Password: password},
	}
	a, err := c.send(ctx, r, "")
	var t garm.Token
	if err == nil {
		t, err = decode(opLogin, a, validToken)
	}
	if err != nil {
		c.config.Metrics.Error(opLogin)
		c.config.Metrics.Error(opClientLogin)
		return token{}, err
	}
	return newToken(t.Token, a.header, time.Now()), nil
}

// validToken says whether a token can stand in a header.
func validToken(t garm.Token) bool {
	for _, r := range t.Token {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return t.Token != ""
}

// FirstRun makes the administrator of a new server, whether or not the configuration allows calls to do so by themselves.
// A server that has one answers with garm.KindConflict.
func (c *Client) FirstRun(ctx context.Context) (garm.User, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	password, err := c.config.Password(ctx)
	if err != nil {
		return garm.User{}, &garm.Error{Kind: garm.KindInvalid, Op: opInit, Err: err}
	}
	return c.firstRun(ctx, password)
}

func (c *Client) firstRun(ctx context.Context, password string) (garm.User, error) {
	r := request{
		op: opInit, method: http.MethodPost, path: "/first-run",
		body: garm.NewUserParams{
			Email: c.config.Email, Username: c.config.Username, FullName: c.config.FullName, Password: password,
		},
	}
	a, err := c.send(ctx, r, "")
	var user garm.User
	if err == nil {
		user, err = decode(opInit, a, func(u garm.User) bool { return u.ID != "" })
	}
	if err != nil {
		c.config.Metrics.Error(opInit)
	}
	return user, err
}
