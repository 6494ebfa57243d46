package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/app/embedded"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/operator/access"
	operatormetrics "github.com/garm-operator/garm-operator/internal/operator/metrics"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/storageversion"
	"github.com/garm-operator/garm-operator/internal/operator/webhookcert"
)

// leaseName is the lease of the leader; two releases side by side must use the same.
const leaseName = access.Lease

// How long a leader that is lost keeps its lease. Others look every retryPeriod to 2.2 times that, at the lease and again once
// it has ended, so that one of them leads within 18 seconds. A pool's create is over sooner than a lease.
const (
	leaseDuration = 11 * time.Second
	renewDeadline = 8 * time.Second
	retryPeriod   = 1500 * time.Millisecond
)

// cacheSyncTimeout is after how long without its caches the operator ends. A cache of resources that are stored in an old version
// fills once the webhooks can be called; ending and starting again in growing intervals would keep them from that.
const cacheSyncTimeout = 24 * time.Hour

// The rates at which the operator talks to the API server, which protects itself.
const (
	kubernetesQPS   = 200
	kubernetesBurst = 400
)

// Options are for those who run the operator in their own process.
type Options struct {
	// RestConfig replaces what the configuration says of the API server.
	RestConfig *rest.Config
	// Transport replaces the connection to the GARM server.
	Transport http.RoundTripper
	// Log receives the log; nothing is logged if it is the zero value.
	Log logr.Logger
	// LeaderElectionNamespace is the operator's own namespace beside RestConfig: it holds the lease and the certificate.
	LeaderElectionNamespace string
	// Session changes the options of the GARM session, for tests.
	Session func(*remote.Options)
	// Certificate changes how the webhook server's certificate is made, for tests.
	Certificate func(*webhookcert.Options)
	// password replaces the one of the configuration.
	password func(context.Context) (string, error)
	// Started is called when the manager has been made, before it runs.
	Started func(ctrl.Manager, *remote.Session)
}

// Run runs the operator until ctx ends.
func Run(ctx context.Context, cfg operatorconfig.Config, opts Options) error {
	if opts.Log.GetSink() == nil {
		opts.Log = logr.Discard()
	}
	api, err := findAPIServer(cfg, opts)
	if err != nil {
		return err
	}
	if err := mayRead(ctx, api, cfg.Operator, opts.Log); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return err
	}
	own := newCollectors()
	hooks, err := newWebhooks(cfg.Operator, opts, api, own.events.PermissionsMissing)
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	var server *embedded.Server
	if cfg.EmbeddedServer.Enabled {
		if server, err = useEmbedded(&cfg, &opts); err != nil {
			return err
		}
	}
	garmClient, err := garmClient(cfg.GARM, opts, own.client)
	if err != nil {
		return fmt.Errorf("garm: %w", err)
	}
	sessionOptions := remote.Options{
		Server: cfg.GARM.Server, Log: opts.Log.WithName("garm"), SyncPeriod: cfg.Operator.SyncPeriod,
		RunnerReconciliation: cfg.Operator.RunnerReconciliation, SyncRunnersInterval: cfg.Operator.SyncRunnersInterval, Metrics: own.events,
	}
	if opts.Session != nil {
		opts.Session(&sessionOptions)
	}
	session := remote.New(remote.Over(garmClient), sessionOptions)

	lease, renew, retry := leaseDuration, renewDeadline, retryPeriod
	skipNames := true // several operators in one process are a test's business; metrics of equal names are then shared
	grace := 20 * time.Second
	mgr, err := ctrl.NewManager(api.config, ctrl.Options{
		Scheme: scheme, Logger: opts.Log, WebhookServer: hooks.server,
		Metrics:                       metricsServer(cfg.Operator),
		HealthProbeBindAddress:        cfg.Operator.HealthProbeBindAddress,
		LeaderElection:                cfg.Operator.LeaderElection,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       api.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
		GracefulShutdownTimeout:       &grace,
		Cache:                         cacheOptions(cfg.Operator),
		Controller:                    ctrlconfig.Controller{SkipNameValidation: &skipNames, CacheSyncTimeout: cacheSyncTimeout},
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	if err := setup(ctx, mgr, session, cfg.Operator, hooks.server != nil); err != nil {
		return err
	}
	if err := hooks.setup(ctx, mgr, cfg.Operator.Namespaces()); err != nil {
		return err
	}
	if err := mgr.Add(sessionRunnable(mgr, session, server, garmClient, cfg, opts)); err != nil {
		return err
	}
	if err := addRewriter(mgr, cfg.Operator, opts); err != nil {
		return err
	}
	if err := health(mgr, hooks.server != nil); err != nil {
		return err
	}
	state := operatormetrics.NewState(operatormetrics.Source{Reader: mgr.GetClient(), Session: session, Leads: mgr.Elected(), Context: ctx})
	if err := own.register(state); err != nil {
		return err
	}
	if opts.Started != nil {
		opts.Started(mgr, session)
	}
	defer mgr.GetHTTPClient().CloseIdleConnections()
	defer garmClient.CloseIdleConnections()
	return hooks.run(ctx, mgr)
}

// addRewriter has resources that are stored in an old version written again.
func addRewriter(mgr ctrl.Manager, cfg operatorconfig.Operator, opts Options) error {
	rewriter, err := storageversion.New(mgr.GetConfig(), mgr.GetRESTMapper(), storageversion.Options{
		Definitions: definitions(), Namespaces: cfg.Namespaces(), Log: opts.Log.WithName("stored-version"),
	})
	if err != nil {
		return err
	}
	return mgr.Add(rewriter)
}

func cacheOptions(cfg operatorconfig.Operator) cache.Options {
	period := cfg.SyncPeriod
	o := cache.Options{SyncPeriod: &period}
	for _, ns := range cfg.Namespaces() {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
		o.DefaultNamespaces[ns] = cache.Config{}
	}
	return o
}

// health makes the probes: ready means that the caches are filled. That GARM is down is a condition of the resources and
// a metric, never an unready Pod. Where webhooks are served, ready means that these can be called instead: a Service leads
// to none but ready replicas, and a cache of resources that are stored in an old version fills by a call to this Service.
func health(mgr ctrl.Manager, webhooks bool) error {
	alive := mgr.AddHealthzCheck("ping", healthz.Ping)
	if webhooks {
		return alive
	}
	synced := make(chan struct{})
	err := mgr.Add(everywhere(func(ctx context.Context) error {
		if mgr.GetCache().WaitForCacheSync(ctx) {
			close(synced)
		}
		<-ctx.Done()
		return nil
	}))
	if err != nil {
		return err
	}
	return errors.Join(alive, mgr.AddReadyzCheck("caches", func(*http.Request) error {
		select {
		case <-synced:
			return nil
		default:
			return errors.New("the caches are not filled yet")
		}
	}))
}

// everywhere is a runnable that runs whether or not the process leads.
type everywhere func(context.Context) error

func (f everywhere) Start(ctx context.Context) error { return f(ctx) }

func (everywhere) NeedLeaderElection() bool { return false }

// sessionRunnable returns what keeps the session going, together with the embedded server if there is one.
func sessionRunnable(
	mgr ctrl.Manager, session *remote.Session, server *embedded.Server, garmClient *client.Client, cfg operatorconfig.Config, opts Options,
) manager.Runnable {
	if server == nil {
		return session
	}
	return &embeddedSession{
		server: server, session: session, garm: garmClient, kube: mgr.GetClient(), config: cfg.EmbeddedServer, log: opts.Log.WithName("garm-server"),
	}
}

func garmClient(cfg operatorconfig.GARM, opts Options, metrics client.Recorder) (*client.Client, error) {
	c := client.Config{
		BaseURL: cfg.Server, Username: cfg.Username, Password: password(cfg), Init: cfg.Init, Email: cfg.Email, Transport: opts.Transport, Metrics: metrics,
	}
	if opts.password != nil {
		c.Password = opts.password
	}
	if !strings.Contains(c.BaseURL, "://") {
		c.BaseURL = "http://" + c.BaseURL
	}
	if cfg.CAFile != "" {
		bundle, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the CA file: %w", err)
		}
		c.CABundle = bundle
	}
	if cfg.ClientCertFile != "" {
		pair, err := tls.LoadX509KeyPair(cfg.ClientCertFile, cfg.ClientKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate: %w", err)
		}
		c.ClientCertificate = &pair
	}
	return client.New(c)
}

// password returns what is asked at each login, so that a rotated file works without a restart.
func password(cfg operatorconfig.GARM) func(context.Context) (string, error) {
	if cfg.PasswordFile == "" {
		return client.Password(cfg.Password)
	}
	return func(context.Context) (string, error) {
		content, err := os.ReadFile(cfg.PasswordFile)
		if err != nil {
			return "", fmt.Errorf("read the password file: %w", err)
		}
		return strings.TrimRight(string(content), "\r\n"), nil
	}
}
