package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// defaultPause is how long credentials rest where the forge set a limit but no time.
const defaultPause = time.Minute

var errPaused = errors.New("the rate limit of the credentials is used up")

// gate remembers until when credentials are rate-limited.
type gate struct {
	mu    sync.Mutex
	until map[model.CredentialsID]time.Time
}

func (g *gate) closed(id model.CredentialsID) (time.Time, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, ok := g.until[id]
	if ok && !time.Now().Before(until) {
		delete(g.until, id)
		return time.Time{}, false
	}
	return until, ok
}

func (g *gate) close(id model.CredentialsID, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until == nil {
		g.until = map[model.CredentialsID]time.Time{}
	}
	g.until[id] = until
}

// open forgets the limit of credentials whose secret was changed: another login has a limit of its own.
func (g *gate) open(id model.CredentialsID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.until, id)
}

const listingDownloads = "listing downloads"

// gated is a Forge that makes no call while its credentials are rate-limited.
type gated struct {
	gate        *gate
	credentials model.CredentialsID
	forge       Forge
	// unanswered is told of calls that the forge did not answer, but for those by which its health is found out.
	unanswered func()
}

func through[T any](g gated, op string, call func() (T, error)) (T, error) {
	if until, ok := g.gate.closed(g.credentials); ok {
		var zero T
		return zero, &ForgeError{Kind: ForgeRateLimited, Op: op, Until: until, Err: errPaused}
	}
	v, err := call()
	var failed *ForgeError
	if errors.As(err, &failed) && failed.Kind == ForgeRateLimited {
		until := failed.Until
		if !until.After(time.Now()) {
			until = time.Now().Add(defaultPause)
			failed.Until = until
		}
		g.gate.close(g.credentials, until)
	}
	if failed != nil && failed.Kind == ForgeUnavailable && op != listingDownloads {
		g.unanswered()
	}
	return v, err
}

func (g gated) Tools(ctx context.Context) ([]Tool, error) {
	return through(g, listingDownloads, func() ([]Tool, error) { return g.forge.Tools(ctx) })
}

func (g gated) Runners(ctx context.Context) ([]Runner, error) {
	return through(g, "listing runners", func() ([]Runner, error) { return g.forge.Runners(ctx) })
}

func (g gated) Runner(ctx context.Context, id int64) (Runner, error) {
	return through(g, "reading a runner", func() (Runner, error) { return g.forge.Runner(ctx, id) })
}

func (g gated) RemoveRunner(ctx context.Context, id int64) error {
	_, err := through(g, "removing a runner", func() (struct{}, error) { return struct{}{}, g.forge.RemoveRunner(ctx, id) })
	return err
}

func (g gated) JITConfig(ctx context.Context, name, group string, labels []string) (Runner, model.JITConfig, error) {
	type answer struct {
		runner Runner
		config model.JITConfig
	}
	a, err := through(g, "registering a runner", func() (answer, error) {
		runner, config, err := g.forge.JITConfig(ctx, name, group, labels)
		return answer{runner, config}, err
	})
	return a.runner, a.config, err
}

func (g gated) RegistrationToken(ctx context.Context) (string, time.Time, error) {
	type answer struct {
		token   string
		expires time.Time
	}
	a, err := through(g, "making a registration token", func() (answer, error) {
		token, expires, err := g.forge.RegistrationToken(ctx)
		return answer{token, expires}, err
	})
	return a.token, a.expires, err
}

func (g gated) URL() string { return g.forge.URL() }

// forgeKind returns the kind of a forge's error; an error of any other type says nothing about what the forge did.
func forgeKind(err error) ForgeErrorKind {
	var failed *ForgeError
	if errors.As(err, &failed) {
		return failed.Kind
	}
	return ForgeUnavailable
}

// limitedUntil returns until when a rate limit holds that caused err.
func limitedUntil(err error) (time.Time, bool) {
	var failed *ForgeError
	if errors.As(err, &failed) && failed.Kind == ForgeRateLimited {
		return failed.Until, true
	}
	return time.Time{}, false
}
