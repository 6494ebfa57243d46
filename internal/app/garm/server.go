package garm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/internal/server/auth"
	"github.com/garm-operator/garm-operator/internal/server/events"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/metrics"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/rest"
	"github.com/garm-operator/garm-operator/internal/server/service"
	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
	"github.com/garm-operator/garm-operator/internal/server/webhook"
)

// Options are what a server is made of.
type Options struct {
	// Config has to be valid.
	Config *garmconfig.Config
	// Listener is served instead of the configured address, without TLS; nil for the configured address.
	Listener net.Listener
	// Log is where the server logs; slog.Default() when nil.
	Log *slog.Logger
	// LogStream lets clients follow the log; nil for none.
	LogStream rest.LogStream
	// Forge is what the connections to forges begin as, for those who lead them elsewhere; nil for the usual.
	Forge *http.Transport
	// Limits bound the fleet engine; a zero field has its default.
	Limits fleet.Limits
	// PasswordCost is the bcrypt cost of password hashes, lowered by those who log in thousands of times; 0 for bcrypt's default.
	PasswordCost int
	// Version is what clients are told; Version of this package when empty.
	Version string
}

// Limits of the HTTP server. Websockets leave them behind with their handshake.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 2 * time.Minute
	writeTimeout  = 3 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 1 << 20
	closeTimeout  = 10 * time.Second
	// compactEvery is how often the database gives back space.
	compactEvery = time.Hour
)

// Server is a running server.
type Server struct {
	log      *slog.Logger
	store    *sqlstore.Store
	hub      *events.Hub
	http     *http.Server
	listener net.Listener
	stop     context.CancelFunc
	running  sync.WaitGroup
	once     sync.Once
	closeErr error
	failed   chan error
}

// feed passes changes to the engine and to those who follow the event stream.
type feed struct {
	hub    *events.Hub
	engine atomic.Pointer[fleet.Engine]
}

// Publish implements model.Feed.
func (f *feed) Publish(changes ...model.Change) {
	f.hub.Publish(changes...)
	if engine := f.engine.Load(); engine != nil {
		engine.Notify(changes...)
	}
}

// New starts a server. It serves until Close.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Version == "" {
		o.Version = Version
	}
	s := &Server{log: o.Log, hub: events.NewHub(), failed: make(chan error, 1)}
	changes := &feed{hub: s.hub}
	db := o.Config.Database
	store, err := sqlstore.Open(ctx, sqlstore.Options{
		Path: db.SQLite.DBFile, Passphrase: db.Passphrase, BusyTimeout: time.Duration(db.SQLite.BusyTimeoutSeconds) * time.Second, Feed: changes,
	})
	if err != nil {
		return nil, err
	}
	s.store = store
	if err := s.start(ctx, o, changes); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, o Options, changes *feed) error {
	c := o.Config
	tokens := &auth.Tokens{Secret: c.JWTAuth.Secret, Life: time.Duration(c.JWTAuth.TimeToLive)}
	parts, err := s.fleet(ctx, o, tokens)
	if err != nil {
		return err
	}
	svc := &service.Service{
		Store: s.store, Engine: parts.engine, Forges: parts.forges, Tokens: tokens, ManageWebhooks: c.Default.EnableWebhookManagement,
		PasswordCost: o.PasswordCost, Log: s.log, Now: time.Now,
	}
	for _, p := range c.Providers {
		svc.Providers = append(svc.Providers, service.Provider{Name: p.Name, Description: p.Description})
	}
	if err := svc.SeedController(ctx, c.Default.MetadataURL, c.Default.CallbackURL, c.Default.WebhookURL); err != nil {
		return fmt.Errorf("seeding the controller URLs: %w", err)
	}
	hooks := webhook.New(s.store, s.log)
	hooks.Observe = parts.counters.Webhook
	api := rest.Options{
		Service: svc, Tokens: tokens, Hub: s.hub, Version: o.Version, CORSOrigins: c.APIServer.CORSOrigins, Log: s.log,
		Webhooks: hooks, MetricsOpen: c.Metrics.DisableAuth, Debug: c.Default.DebugServer,
	}
	if c.Metrics.Enable {
		api.Metrics = metrics.Handler(metrics.Options{Source: s.store, Health: parts.engine.Health, Providers: described(c.Providers), Counters: parts.counters, Log: s.log})
	}
	if c.LogStreamer() {
		api.Logs = o.LogStream
	}
	if s.listener, err = listen(ctx, o); err != nil {
		return err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	changes.engine.Store(parts.engine)
	s.running.Go(func() {
		defer parts.close()
		if err := parts.engine.Run(life); err != nil {
			s.fail(fmt.Errorf("the fleet engine: %w", err))
		}
	})
	s.running.Go(func() { svc.KeepWebhookSecrets(life) })
	s.running.Go(func() { s.compact(life) })
	s.http = &http.Server{
		Handler: rest.New(api), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn), BaseContext: func(net.Listener) context.Context { return life },
	}
	s.running.Go(func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serving: %w", err))
		}
	})
	s.log.Info("Serving", "address", s.listener.Addr().String(), "version", o.Version)
	return nil
}

// compact keeps the database small until ctx ends.
func (s *Server) compact(ctx context.Context) {
	ticker := time.NewTicker(compactEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.store.Compact(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("The database was not made smaller", "error", err)
		}
	}
}

func described(providers []garmconfig.Provider) []metrics.Provider {
	list := make([]metrics.Provider, len(providers))
	for i, p := range providers {
		list[i] = metrics.Provider{Name: p.Name, Description: p.Description}
	}
	return list
}

// listen opens the configured address, or takes the given listener.
func listen(ctx context.Context, o Options) (net.Listener, error) {
	if o.Listener != nil {
		return o.Listener, nil
	}
	a := o.Config.APIServer
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(a.Bind, strconv.Itoa(a.Port)))
	if err != nil || !a.UseTLS {
		return l, err
	}
	pair, err := tls.LoadX509KeyPair(a.TLS.Certificate, a.TLS.Key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("apiserver.tls: %w", err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Failed yields an error where the server broke down by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// Close ends the server: followers are told, requests that run are finished for some seconds, the engine stops.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.hub.Close()
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		err := s.http.Shutdown(ctx)
		s.stop()
		if err != nil {
			err = s.http.Close()
		}
		s.running.Wait()
		s.closeErr = errors.Join(err, s.store.Close())
	})
	return s.closeErr
}
