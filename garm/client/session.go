package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/garm-operator/garm-operator/garm"
)

const (
	// minLoginBackoff and maxLoginBackoff bound the time between logins that a server refuses.
	minLoginBackoff = time.Second
	maxLoginBackoff = time.Minute
)

// session holds the token that all calls share, and what is known of refused logins.
type session struct {
	flight singleflight.Group

	mu    sync.Mutex
	token token
	// refused is why the server refuses the user, failures how often in a row, and retryAt when to ask again.
	refused  *garm.Error
	failures int
	retryAt  time.Time
	// password is the one that was refused: another one is tried at once.
	password string
	// doubted is a token of a fresh login that was refused all the same.
	doubted string
}

// authenticated runs send with a token, and once more with a new one if the server does not know the first.
func (c *Client) authenticated(ctx context.Context, op string, send func(token string) error) error {
	value, err := c.login(ctx, op, "")
	if err != nil {
		return err
	}
	err = send(value)
	if !c.wantsLogin(err) {
		return err
	}
	c.config.Metrics.Error("client.Unauthenticated")
	renewed, loginErr := c.login(ctx, op, value)
	if loginErr != nil {
		return loginErr
	}
	if renewed == value {
		return err
	}
	err = send(renewed)
	if c.wantsLogin(err) {
		c.config.Metrics.Error("client.Unauthenticated")
		c.session.doubt(renewed)
	} else {
		c.session.trust()
	}
	return err
}

// wantsLogin says whether a new login may help against err. A server that lost its database says that it is not set up,
// whatever the token.
func (c *Client) wantsLogin(err error) bool {
	return isUnauthenticated(err) || (c.config.Init && garm.KindOf(err) == garm.KindInitRequired)
}

func isUnauthenticated(err error) bool {
	var e *garm.Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized
}

// login returns a token other than the rejected one. All who need one at the same time wait for the same login, which
// goes on when one of them gives up. If the server has just refused a fresh token, the rejected one comes back.
func (c *Client) login(ctx context.Context, op, rejected string) (string, error) {
	if value, ok := c.session.current(rejected, time.Now()); ok {
		return value, nil
	}
	done := c.session.flight.DoChan("login", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.config.Timeout)
		defer cancel()
		return nil, c.renew(ctx, rejected)
	})
	select {
	case <-ctx.Done():
		err := transportError(op, ctx.Err())
		err.NotSent = true
		return "", err
	case result := <-done:
		value, ok := c.session.latest(rejected, time.Now())
		if result.Err == nil && ok {
			return value, nil
		}
		// A token that has not ended is good enough when it could not be renewed in time.
		if ok && value != rejected {
			return value, nil
		}
		if result.Err == nil {
			return "", &garm.Error{Kind: garm.KindUnauthorized, Op: op, Err: errors.New("the server gives tokens that have ended")}
		}
		return "", result.Err
	}
}

// renew logs in unless somebody just did, or the server has just refused.
func (c *Client) renew(ctx context.Context, rejected string) error {
	if _, ok := c.session.current(rejected, time.Now()); ok {
		return nil
	}
	password, err := c.config.Password(ctx)
	if err != nil {
		return &garm.Error{Kind: garm.KindUnauthorized, Op: opLogin, NotSent: true, Err: fmt.Errorf("read the password: %w", err)}
	}
	if err := c.session.gate(password, time.Now()); err != nil {
		return err
	}
	fresh, err := c.signIn(ctx, password)
	if err != nil {
		err = loginError(err)
		c.session.fail(err, password, time.Now())
		return err
	}
	c.session.store(fresh)
	if !fresh.endsAt.IsZero() {
		c.config.Metrics.TokenExpiry(fresh.endsAt)
	}
	return nil
}

// current returns the token if it needs no renewal.
func (s *session) current(rejected string, now time.Time) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rejected != "" && s.token.value == rejected {
		// A login that has not helped a moment ago would not help now.
		return rejected, s.doubted == rejected && now.Before(s.retryAt)
	}
	return s.token.value, s.token.fresh(now)
}

// latest returns the token if it has not ended.
func (s *session) latest(rejected string, now time.Time) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token.value, s.token.usable(now) && s.token.value != rejected
}

func (s *session) store(t token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = t
	s.refused, s.password = nil, ""
	if s.doubted == "" {
		s.failures = 0
	}
}

// gate returns why no login is tried now: the server refused this password a moment ago.
func (s *session) gate(password string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil || password != s.password || !now.Before(s.retryAt) {
		return nil
	}
	e := *s.refused
	e.RetryAfterSeconds = seconds(s.retryAt.Sub(now))
	return &e
}

// fail remembers a refused login. A server that could not be asked has refused nothing.
func (s *session) fail(err error, password string, now time.Time) {
	var e *garm.Error
	if !errors.As(err, &e) || e.Kind >= garm.KindUnavailable {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused, s.password = e, password
	s.step(now)
	if asked := now.Add(time.Duration(e.RetryAfterSeconds) * time.Second); asked.After(s.retryAt) {
		s.retryAt = asked
	}
}

// doubt remembers that a server refuses what it has just given out.
func (s *session) doubt(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.value != value || s.doubted == value {
		return
	}
	s.doubted = value
	s.step(time.Now())
}

// trust forgets refusals: a new token was accepted.
func (s *session) trust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubted, s.failures = "", 0
}

func (s *session) step(now time.Time) {
	s.failures++
	wait := maxLoginBackoff
	if s.failures < 7 {
		wait = min(minLoginBackoff<<(s.failures-1), maxLoginBackoff)
	}
	s.retryAt = now.Add(wait)
}
