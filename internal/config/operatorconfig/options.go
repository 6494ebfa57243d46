package operatorconfig

import (
	"strings"
	"time"
	"unicode"
)

// Option is one setting with its names in all sources. Options returns them all.
type Option struct {
	// Key is the name in the configuration file, with a dot between section and key.
	Key string
	// Flag is the name on the command line without dashes, Shorthand its one-letter form.
	Flag      string
	Shorthand string
	// Env is the environment variable; empty where there is none.
	Env string
	// Default is a string, bool, int or time.Duration.
	Default any
	Usage   string
	// Secret values are masked wherever the configuration is shown.
	Secret bool
	// OldFlags and OldEnvs are names of earlier releases, or misspelt in their documentation. They work, with a warning.
	OldFlags []string
	OldEnvs  []string
}

// option derives the flag and the environment variable from the key, as the known operator does.
func option(key string, def any, usage string) Option {
	section, name, _ := strings.Cut(key, ".")
	words := splitCamel(name)
	return Option{
		Key:     key,
		Flag:    section + "-" + strings.Join(words, "-"),
		Env:     strings.ToUpper(section + "_" + strings.Join(words, "_")),
		Default: def,
		Usage:   usage,
	}
}

func (o Option) secret() Option { o.Secret = true; return o }

func (o Option) old(flags ...string) Option { o.OldFlags = flags; return o }

func (o Option) oldEnv(names ...string) Option { o.OldEnvs = names; return o }

func (o Option) short(letter string) Option { o.Shorthand = letter; return o }

// named replaces the derived names.
func (o Option) named(flag, env string) Option { o.Flag, o.Env = flag, env; return o }

// flagOnly is for what belongs to an invocation rather than to an installation.
func (o Option) flagOnly(flag string) Option { o.Flag, o.Env = flag, ""; return o }

// Values of operator.webhookEnabled beside "true" and "false", and of operator.webhookCertificates.
const (
	WebhookAuto          = "auto"
	CertificatesAuto     = "auto"
	CertificatesFiles    = "files"
	CertificatesSelfMade = "self-made"
)

// Options returns every setting, in the order in which they are documented.
func Options() []Option {
	return []Option{
		option("garm.server", "", "URL of the GARM server, such as https://garm.example.com (required without --embedded-server)"),
		option("garm.username", "", "user name of the GARM administrator (required with --garm-server; admin with --embedded-server)"),
		option("garm.password", "", "password of the GARM administrator; better given as a file or from a Secret in the environment (required with --garm-server; generated with --embedded-server)").secret(),
		option("garm.passwordFile", "", "file that holds the password; it is read at each login and wins over the password"),
		option("garm.init", true, "make the administrator if the GARM server has none"),
		option("garm.email", "garm-operator@localhost", "e-mail address of an administrator that is made"),
		option("garm.caFile", "", "PEM file of certificates to trust besides the system's when talking to GARM"),
		option("garm.clientCertFile", "", "PEM file of the client certificate to show to GARM"),
		option("garm.clientKeyFile", "", "PEM file of the client certificate's key"),
		embedded("enabled", false, "run a GARM server in this process instead of using one at --garm-server; for one replica").
			named("embedded-server", "OPERATOR_EMBEDDED_SERVER"),
		embedded("dataDir", "/var/lib/garm-operator", "directory on a volume that keeps the embedded server's database, keys and administrator's password"),
		embedded("listenAddress", ":9997", "address at which the embedded server is reached by runners and GitHub, as host:port"),
		embedded("url", "", "URL of that address as runners and GitHub see it, such as http://garm-server.garm-operator-system.svc:9997; the three URLs below are made of it"),
		embedded("metadataUrl", "", "URL from which runners get what they need (default: URL + /api/v1/metadata)"),
		embedded("callbackUrl", "", "URL to which runners report (default: URL + /api/v1/callbacks)"),
		embedded("webhookUrl", "", "URL to which GitHub sends webhooks (default: URL + /webhooks)"),
		embedded("providersFile", "", "TOML file with the [[provider]] sections that say how the embedded server makes machines"),
		embedded("takeOver", false, "start the embedded server although resources belong to another GARM server; they are then made anew at this one"),
		option("operator.metricsBindAddress", ":8080", "address that serves metrics, as host:port").old("metrics-bind-address"),
		option("operator.metricsSecure", false, "serve metrics over TLS, and only to those whose token the API server knows and allows to get /metrics"),
		option("operator.metricsCertDir", "", "directory of tls.crt and tls.key for --operator-metrics-secure; empty means a certificate that nobody signed"),
		option("operator.healthProbeBindAddress", ":8081", "address that serves health probes, as host:port").old("health-probe-bind-address"),
		option("operator.leaderElection", false, "let only one of several replicas act").old("leader-elect"),
		option("operator.syncPeriod", 5*time.Minute, "how often everything is compared anew although nothing seems to have changed").old("sync-period"),
		option("operator.watchNamespace", "", "namespaces to work in, separated by commas; empty means all").old("namespace"),
		option("operator.syncRunnersInterval", 5*time.Second, "how often runners are listed where GARM sends no events (5s to 5m)"),
		option("operator.minIdleRunnersAge", 2*time.Hour, "how long an idle runner above minIdleRunners is kept"),
		option("operator.runnerConcurrency", 50, "how many Runners are reconciled at once"),
		option("operator.repositoryConcurrency", 10, "how many Repositories are reconciled at once"),
		option("operator.organizationConcurrency", 5, "how many Organizations are reconciled at once"),
		option("operator.enterpriseConcurrency", 1, "how many Enterprises are reconciled at once"),
		option("operator.poolConcurrency", 10, "how many Pools are reconciled at once"),
		option("operator.runnerReconciliation", false, "show every runner as a Runner resource").
			old("operator-sync-runners", "operator-runner-reconcilation").oldEnv("OPERATOR_RUNNER_RECONCILATION"),
		option("operator.webhookEnabled", WebhookAuto, "serve admission and conversion webhooks: true, false or auto; auto means inside a cluster only"),
		option("operator.webhookPort", 9443, "port of the webhook server"),
		option("operator.webhookCertDir", "", "folder of the webhook server's tls.crt and tls.key; empty means k8s-webhook-server/serving-certs in the temporary folder"),
		option("operator.webhookCertificates", CertificatesAuto,
			"where the webhook server's certificate comes from: files (as cert-manager mounts them), self-made or auto; auto means files if they are there"),
		option("operator.webhookSecret", "garm-operator-webhook-cert", "Secret, in the operator's namespace, that keeps a self-made certificate"),
		option("operator.webhookConfiguration", "garm-operator-validating-webhook-configuration",
			"ValidatingWebhookConfiguration that is told to trust a self-made certificate"),
		option("operator.webhookUrl", "",
			"URL by which the API server calls this operator's webhooks where it calls no Service, such as https://operator.example.com:9443; empty means localhost or the name of this machine"),
		option("operator.logVerbosityLevel", 0, "how much is logged, 0 to 5").short("v"),
		option("operator.logFormat", "text", "form of log lines: text or json").flagOnly("log-format").env("OPERATOR_LOG_FORMAT"),
		option("kubernetes.kubeconfig", "", "kubeconfig file; empty means in-cluster, KUBECONFIG or ~/.kube/config").flagOnly("kubeconfig"),
		option("kubernetes.context", "", "context of the kubeconfig file; empty means its current one").flagOnly("context"),
	}
}

// embedded is option for the settings of the embedded server, whose section is two words.
func embedded(name string, def any, usage string) Option {
	words := append([]string{"embedded", "server"}, splitCamel(name)...)
	return Option{
		Key: "embeddedServer." + name, Flag: strings.Join(words, "-"), Env: "OPERATOR_" + strings.ToUpper(strings.Join(words, "_")), Default: def, Usage: usage,
	}
}

func (o Option) env(name string) Option { o.Env = name; return o }

// splitCamel returns the words of a lower-camel-case name in lower case.
func splitCamel(name string) []string {
	var words []string
	start := 0
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(name[i-1])) {
			words = append(words, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(words, strings.ToLower(name[start:]))
}
