package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	garmapp "github.com/garm-operator/garm-operator/internal/app/garm"
	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/filelock"
)

// URL stands for the server where a URL is needed in this process. It leads to the server through Transport only.
const URL = "http://garm.embedded"

// lockPatience is how long a process that is about to end may keep the data directory.
const lockPatience = 30 * time.Second

// Options say what an embedded server is made of.
type Options struct {
	// Config has to be valid.
	Config operatorconfig.EmbeddedServer
	// AdminGiven says that the administrator's password is given; else one is made in the data directory.
	AdminGiven bool
	// Log gets what the server logs. Required.
	Log *slog.Logger
}

// Server is a GARM server in this process. It works while Run does.
type Server struct {
	options   Options
	providers []garmconfig.Provider
	address   atomic.Pointer[net.TCPAddr]
	transport *http.Transport
}

// New checks what can be known before the server runs. It touches nothing.
func New(options Options) (*Server, error) {
	s := &Server{options: options}
	if file := options.Config.ProvidersFile; file != "" {
		providers, warnings, err := garmconfig.LoadProviders(file)
		if err != nil {
			return nil, err
		}
		for _, warning := range warnings {
			options.Log.Warn("The providers' file has a key without effect", "file", file, "warning", warning)
		}
		s.providers = providers
	}
	s.transport = &http.Transport{MaxIdleConnsPerHost: 16, DialContext: s.dial}
	return s, nil
}

// Transport leads every request to the server, whatever its host, and fails while the server does not run.
func (s *Server) Transport() http.RoundTripper { return s.transport }

func (s *Server) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	address := s.address.Load()
	if address == nil {
		return nil, errors.New("the embedded server does not run")
	}
	return (&net.Dialer{}).DialContext(ctx, network, address.String())
}

// Password returns the administrator's password that was made in the data directory.
func (s *Server) Password(context.Context) (string, error) {
	return readSecret(filepath.Join(s.options.Config.DataDir, passwordFile))
}

// Run starts the server, calls use, and stops the server when use has returned. The context of use ends when ctx does, and
// when the server breaks down.
func (s *Server) Run(ctx context.Context, use func(context.Context) error) (err error) {
	dir := s.options.Config.DataDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory of the embedded server (does a volume lie there?): %w", err)
	}
	held, err := filelock.Take(ctx, filepath.Join(dir, lockFile), lockPatience)
	if errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("another process uses the data directory %s: run one replica with an embedded server, with the update strategy Recreate", dir)
	}
	if err != nil {
		return fmt.Errorf("lock the data directory: %w", err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	secrets, err := loadSecrets(dir, s.options.AdminGiven)
	if err != nil {
		return err
	}
	server, err := s.start(ctx, secrets)
	if err != nil {
		return err
	}
	err = during(ctx, server.Failed(), use)
	s.address.Store(nil)
	s.transport.CloseIdleConnections()
	return errors.Join(err, server.Close())
}

// during calls use with a context that ends at a failure, too, which is part of the error then.
func during(ctx context.Context, failed <-chan error, use func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failure error
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case failure = <-failed:
			cancel()
		case <-ctx.Done():
		}
	})
	err := use(ctx)
	cancel()
	watching.Wait()
	if failure != nil {
		failure = fmt.Errorf("the embedded server broke down: %w", failure)
	}
	return errors.Join(err, failure)
}

func (s *Server) start(ctx context.Context, secrets secrets) (*garmapp.Server, error) {
	config, err := s.config(secrets)
	if err != nil {
		return nil, err
	}
	// SQLite would make a file that everybody may read.
	database, err := os.OpenFile(config.Database.SQLite.DBFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the database of the embedded server: %w", err)
	}
	if err := database.Close(); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Config.ListenAddress)
	if err != nil {
		return nil, fmt.Errorf("embeddedServer.listenAddress: %w", err)
	}
	server, err := garmapp.New(ctx, garmapp.Options{Config: config, Listener: listener, Log: s.options.Log})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the embedded server: %w", err), listener.Close())
	}
	s.address.Store(listener.Addr().(*net.TCPAddr))
	return server, nil
}

// config returns the configuration of the server. URLs are no part of it: they are set by who uses the server.
func (s *Server) config(secrets secrets) (*garmconfig.Config, error) {
	host, port, err := net.SplitHostPort(s.options.Config.ListenAddress)
	if err != nil {
		return nil, fmt.Errorf("embeddedServer.listenAddress: %w", err)
	}
	if host == "" {
		host = "::"
	}
	c := &garmconfig.Config{Providers: s.providers}
	c.Default.EnableWebhookManagement = true
	c.Metrics.Enable = true
	c.JWTAuth.Secret, c.JWTAuth.TimeToLive = secrets.tokenKey, garmconfig.Duration(garmconfig.MinTokenLife)
	c.APIServer.Bind = host
	if c.APIServer.Port, err = strconv.Atoi(port); err != nil {
		return nil, fmt.Errorf("embeddedServer.listenAddress: %w", err)
	}
	c.Database.Backend, c.Database.Passphrase = "sqlite3", secrets.passphrase
	c.Database.SQLite.DBFile = filepath.Join(s.options.Config.DataDir, databaseFile)
	c.SetDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configure the embedded server: %w", err)
	}
	return c, nil
}
