package operatorconfig

import "time"

// Config is the whole configuration of garm-operator.
type Config struct {
	GARM           GARM           `koanf:"garm"`
	EmbeddedServer EmbeddedServer `koanf:"embeddedServer"`
	Operator       Operator       `koanf:"operator"`
	Kubernetes     Kubernetes     `koanf:"kubernetes"`
}

// GARM says which server is driven, and how to log in.
type GARM struct {
	// Server is the server's URL; a path prefix is kept. It is empty where the operator runs the server itself.
	Server   string `koanf:"server"`
	Username string `koanf:"username"`
	// Password is a secret. PasswordFile is read anew at each login, so that a rotated Secret works.
	Password     string `koanf:"password"`
	PasswordFile string `koanf:"passwordFile"`
	// Init allows to make the administrator of a server that has none, with Email as its address.
	Init  bool   `koanf:"init"`
	Email string `koanf:"email"`
	// CAFile holds PEM certificates that are trusted besides the system's.
	CAFile         string `koanf:"caFile"`
	ClientCertFile string `koanf:"clientCertFile"`
	ClientKeyFile  string `koanf:"clientKeyFile"`
}

// EmbeddedServer says how the operator runs a GARM server in its own process. All but Enabled has no effect unless it is set.
type EmbeddedServer struct {
	Enabled bool `koanf:"enabled"`
	// DataDir keeps the database, its passphrase, the key of tokens and the administrator's password. One process at a time
	// may use it.
	DataDir string `koanf:"dataDir"`
	// ListenAddress is where runners and GitHub reach the server, as host:port.
	ListenAddress string `koanf:"listenAddress"`
	// URL is under which address they do so, without a path. MetadataURL, CallbackURL and WebhookURL are made of it where they
	// are empty. What a GarmServerConfig says wins over all of them.
	URL         string `koanf:"url"`
	MetadataURL string `koanf:"metadataUrl"`
	CallbackURL string `koanf:"callbackUrl"`
	WebhookURL  string `koanf:"webhookUrl"`
	// ProvidersFile is a TOML file with the [[provider]] sections of a GARM configuration.
	ProvidersFile string `koanf:"providersFile"`
	// TakeOver allows to start although resources carry the id of another GARM controller.
	TakeOver bool `koanf:"takeOver"`
}

// Operator holds the settings of the operator itself.
type Operator struct {
	MetricsBindAddress string `koanf:"metricsBindAddress"`
	// MetricsSecure serves the metrics over TLS, to those only who may get /metrics. MetricsCertDir holds tls.crt and
	// tls.key for it.
	MetricsSecure          bool   `koanf:"metricsSecure"`
	MetricsCertDir         string `koanf:"metricsCertDir"`
	HealthProbeBindAddress string `koanf:"healthProbeBindAddress"`
	LeaderElection         bool   `koanf:"leaderElection"`
	// SyncPeriod is how often everything is compared anew, although nothing seems to have changed.
	SyncPeriod time.Duration `koanf:"syncPeriod"`
	// WatchNamespace is a comma-separated list of namespaces; empty means all.
	WatchNamespace string `koanf:"watchNamespace"`
	// SyncRunnersInterval is how often runners are listed where the server sends no events.
	SyncRunnersInterval time.Duration `koanf:"syncRunnersInterval"`
	// MinIdleRunnersAge is how long a surplus idle runner is kept.
	MinIdleRunnersAge       time.Duration `koanf:"minIdleRunnersAge"`
	RunnerConcurrency       int           `koanf:"runnerConcurrency"`
	RepositoryConcurrency   int           `koanf:"repositoryConcurrency"`
	OrganizationConcurrency int           `koanf:"organizationConcurrency"`
	EnterpriseConcurrency   int           `koanf:"enterpriseConcurrency"`
	PoolConcurrency         int           `koanf:"poolConcurrency"`
	// RunnerReconciliation shows every runner as a Runner resource.
	RunnerReconciliation bool `koanf:"runnerReconciliation"`
	// LogVerbosityLevel is 0 to 5; LogFormat is "text" or "json".
	LogVerbosityLevel int    `koanf:"logVerbosityLevel"`
	LogFormat         string `koanf:"logFormat"`
	// WebhookEnabled is "true", "false" or "auto": inside a cluster only. Empty means auto.
	WebhookEnabled string `koanf:"webhookEnabled"`
	WebhookPort    int    `koanf:"webhookPort"`
	// WebhookCertDir holds the files tls.crt and tls.key; empty means the usual place.
	WebhookCertDir string `koanf:"webhookCertDir"`
	// WebhookCertificates is "files", "self-made" or "auto": files if they are there. Empty means auto.
	WebhookCertificates string `koanf:"webhookCertificates"`
	// WebhookSecret names the Secret of self-made certificates, in the operator's own namespace.
	WebhookSecret string `koanf:"webhookSecret"`
	// WebhookConfiguration names the ValidatingWebhookConfiguration that is told which authority to trust.
	WebhookConfiguration string `koanf:"webhookConfiguration"`
	// WebhookURL is by which URL the API server calls the webhooks where it does not call a Service; empty means this machine.
	WebhookURL string `koanf:"webhookUrl"`
}

// Kubernetes says which API server is used. Both fields empty mean the usual order: in-cluster, KUBECONFIG,
// ~/.kube/config.
type Kubernetes struct {
	Kubeconfig string `koanf:"kubeconfig"`
	Context    string `koanf:"context"`
}
