package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	garmapp "github.com/garm-operator/garm-operator/internal/app/garm"
	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
)

// Stack is a running environment.
type Stack struct {
	// GitHub is the simulator.
	GitHub *githubsim.Server
	// Proxy stands between the operator and the server.
	Proxy *garmproxy.Proxy
	// GARM speaks to the server past the proxy. It can log in once the operator has made the administrator.
	GARM *garmclient.Client
	// Kube is the cluster's administrator, without a cache.
	Kube client.Client

	options Options
	address string
	server  *garmapp.Server
	forge   *http.Transport
}

// Up brings everything up but the operator. What it has started is stopped by Down.
func Up(ctx context.Context, options Options) (_ *Stack, err error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Stack{options: options}
	if options.PublicGitHub {
		if err := s.bePublic(); err != nil {
			return nil, err
		}
	}
	s.GitHub = githubsim.New(s.options.GitHub)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Down())
		}
	}()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	if s.Kube, err = client.New(options.Plane.Config(), client.Options{Scheme: scheme, Mapper: options.Plane.Mapper()}); err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	if err := s.Kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: options.Namespace}}); client.IgnoreAlreadyExists(err) != nil {
		return nil, fmt.Errorf("making the namespace: %w", err)
	}
	if err := s.GitHub.Start(); err != nil {
		return nil, err
	}
	if err := s.StartGARM(ctx); err != nil {
		return nil, err
	}
	if s.Proxy, err = garmproxy.Start("http://" + s.address); err != nil {
		return nil, err
	}
	s.Proxy.Speak(options.Dialect)
	s.GARM, err = garmclient.New(garmclient.Config{BaseURL: "http://" + s.address, Username: User, Password: garmclient.Password(Password)})
	return s, err
}

// Down stops everything but operators, which should be stopped before.
func (s *Stack) Down() error {
	if s.Proxy != nil {
		s.Proxy.Close()
	}
	err := s.StopGARM()
	s.GitHub.Close()
	return err
}

// StartGARM starts the server on its database: at the first call on a new one.
func (s *Stack) StartGARM(ctx context.Context) error {
	if s.address == "" {
		// One that nobody takes while the server is away.
		address, err := freeport.Address(ctx)
		if err != nil {
			return err
		}
		s.address = address
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("listening for GARM: %w", err)
	}
	s.address = listener.Addr().String()
	s.server, err = garmapp.New(ctx, garmapp.Options{Config: s.config(), Listener: listener, Log: s.options.Log, Forge: s.forge, PasswordCost: bcrypt.MinCost})
	if err != nil {
		return errors.Join(fmt.Errorf("starting GARM: %w", err), listener.Close())
	}
	return nil
}

// StopGARM stops the server. Its address refuses connections from then on.
func (s *Stack) StopGARM() error {
	if s.server == nil {
		return nil
	}
	err := s.server.Close()
	s.server = nil
	return err
}

// LoseDatabase stops the server and removes its database, so that the next StartGARM is a new server at the same address.
func (s *Stack) LoseDatabase() error {
	if err := s.StopGARM(); err != nil {
		return err
	}
	files, err := filepath.Glob(s.database() + "*")
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

func (s *Stack) database() string { return filepath.Join(s.options.Dir, "garm.db") }

func (s *Stack) config() *garmconfig.Config {
	c := &garmconfig.Config{}
	c.Default.EnableWebhookManagement = true
	c.JWTAuth.Secret = "mT4-vQ8_zL2xK6wP9rB3"
	c.JWTAuth.TimeToLive = garmconfig.Duration(cmp.Or(s.options.TokenLife, garmconfig.MinTokenLife))
	c.Database.Backend = "sqlite3"
	c.Database.Passphrase = "kX7-vR2_mQ9wL4zT8bN6jH3gF5dS1aPy"
	c.Database.SQLite.DBFile = s.database()
	c.Database.SQLite.BusyTimeoutSeconds = 5
	c.Providers = []garmconfig.Provider{{
		Name: "local", Type: "external", Description: "machines of the test",
		External: garmconfig.External{Executable: s.options.Provider, ConfigFile: s.options.ProviderConfig, InterfaceVersion: "v0.1.1"},
	}}
	for _, name := range s.options.OtherProviders {
		c.Providers = append(c.Providers, garmconfig.Provider{
			Name: name, Type: "external", External: garmconfig.External{Executable: "/bin/false", InterfaceVersion: "v0.1.1"},
		})
	}
	return c
}

// ServerURL is the address of the server itself, past the proxy: what runners and GitHub use.
func (s *Stack) ServerURL() string { return "http://" + s.address }
