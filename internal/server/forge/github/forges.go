package github

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Secrets opens the sealed secrets of credentials.
type Secrets interface {
	ForgeSecret(ctx context.Context, id model.CredentialsID) (model.ForgeSecret, error)
}

// Options are what Forges is made of. Secrets is required.
type Options struct {
	Secrets Secrets
	// UserAgent names the program to the forge; "garm" when empty.
	UserAgent string
	// Timeout bounds one call; 30 s when 0.
	Timeout time.Duration
	// Transport is what the connections of an endpoint begin as, before its CA bundle is added; a clone of
	// http.DefaultTransport when nil.
	Transport *http.Transport
}

// Forges makes the fleet.Forge of entities at GitHub.
type Forges struct {
	options Options

	mu      sync.Mutex
	clients map[model.CredentialsID]*client
}

var _ fleet.Forges = (*Forges)(nil)

// New makes Forges without any connection.
func New(o Options) *Forges {
	if o.UserAgent == "" {
		o.UserAgent = "garm"
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	return &Forges{options: o, clients: map[model.CredentialsID]*client{}}
}

// Forge implements fleet.Forges.
func (f *Forges) Forge(ctx context.Context, entity model.Entity) (fleet.Forge, error) {
	made, err := f.forge(ctx, entity)
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (f *Forges) forge(ctx context.Context, entity model.Entity) (forge, error) {
	if t := entity.Endpoint().Type; t != "" && t != model.ForgeGitHub {
		return forge{}, fmt.Errorf("endpoint %s is of type %s, which is not supported", entity.Endpoint().Name, t)
	}
	c, err := f.client(ctx, entity.Credentials)
	if err != nil {
		return forge{}, fmt.Errorf("credentials %q: %w", entity.Credentials.Name, err)
	}
	return newForge(c, entity), nil
}

// Close closes the connections that are kept.
func (f *Forges) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, c := range f.clients {
		c.close()
		delete(f.clients, id)
	}
}

func (f *Forges) client(ctx context.Context, credentials model.Credentials) (*client, error) {
	version := versionOf(credentials)
	f.mu.Lock()
	kept := f.clients[credentials.ID]
	f.mu.Unlock()
	if kept != nil && kept.version == version {
		return kept, nil
	}
	secret, err := f.options.Secrets.ForgeSecret(ctx, credentials.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the secret: %w", err)
	}
	made, err := newClient(f.options, credentials, secret)
	if err != nil {
		return nil, err
	}
	made.version = version
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.clients[credentials.ID]; old != nil {
		old.close()
	}
	f.clients[credentials.ID] = made
	return made, nil
}

// version is everything that makes a client out of date when it changes.
type version struct {
	revision uint64
	auth     model.AuthType
	api      string
	ca       string
}

func versionOf(c model.Credentials) version {
	return version{revision: c.Revision, auth: c.AuthType, api: c.Endpoint.APIBaseURL, ca: string(c.Endpoint.CACertBundle)}
}
