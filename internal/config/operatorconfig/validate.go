package operatorconfig

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/garm-operator/garm-operator/internal/weburl"
)

// Validate returns every fault of the configuration, each with the key and what is expected.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, key, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
		}
	}
	g, o := c.GARM, c.Operator
	e := c.EmbeddedServer
	_, err := serverURL(g.Server)
	fault(g.Server == "" && !e.Enabled, "garm.server", "is required: the URL of the GARM server (--garm-server), or --embedded-server to run one in this process")
	fault(g.Server != "" && e.Enabled, "garm.server", "and embeddedServer.enabled exclude each other: give --garm-server to use a GARM server, or --embedded-server to run one in this process")
	login := weburl.HasLogin(g.Server)
	fault(err != nil && !login, "garm.server", "is not a URL")
	fault(login, "garm.server", "must not hold a user or password, since it is shown in logs and metrics: give garm.username and garm.passwordFile")
	fault(g.Username == "" && !e.Enabled, "garm.username", "is required (--garm-username)")
	fault(g.Password == "" && g.PasswordFile == "" && !e.Enabled, "garm.password", "is required, or garm.passwordFile (--garm-password-file)")
	if e.Enabled {
		e.validate(fault)
	}
	fault(g.Init && g.Email == "", "garm.email", "is required while garm.init is true")
	fault((g.ClientCertFile == "") != (g.ClientKeyFile == ""), "garm.clientCertFile", "and garm.clientKeyFile go together")
	fault(!isHostPort(o.MetricsBindAddress), "operator.metricsBindAddress", "must be host:port, such as :8080")
	fault(!isHostPort(o.HealthProbeBindAddress), "operator.healthProbeBindAddress", "must be host:port, such as :8081")
	fault(o.SyncPeriod <= 0, "operator.syncPeriod", "must be longer than 0")
	fault(o.SyncRunnersInterval < 5*time.Second || o.SyncRunnersInterval > 5*time.Minute, "operator.syncRunnersInterval", "must be from 5s to 5m")
	fault(o.MinIdleRunnersAge < 0, "operator.minIdleRunnersAge", "must not be negative")
	for key, n := range map[string]int{
		"operator.runnerConcurrency": o.RunnerConcurrency, "operator.repositoryConcurrency": o.RepositoryConcurrency,
		"operator.organizationConcurrency": o.OrganizationConcurrency, "operator.enterpriseConcurrency": o.EnterpriseConcurrency,
		"operator.poolConcurrency": o.PoolConcurrency,
	} {
		fault(n < 1, key, "must be at least 1")
	}
	fault(o.LogVerbosityLevel < 0 || o.LogVerbosityLevel > 5, "operator.logVerbosityLevel", "must be from 0 to 5")
	fault(!slices.Contains([]string{"text", "json"}, o.LogFormat), "operator.logFormat", "must be text or json")
	fault(!slices.Contains([]string{WebhookAuto, "true", "false"}, o.WebhookEnabled), "operator.webhookEnabled", "must be true, false or auto")
	fault(o.WebhookPort < 1 || o.WebhookPort > 65535, "operator.webhookPort", "must be from 1 to 65535")
	fault(!slices.Contains([]string{CertificatesAuto, CertificatesFiles, CertificatesSelfMade}, o.WebhookCertificates),
		"operator.webhookCertificates", "must be files, self-made or auto")
	for key, name := range map[string]string{"operator.webhookSecret": o.WebhookSecret, "operator.webhookConfiguration": o.WebhookConfiguration} {
		fault(len(validation.IsDNS1123Subdomain(name)) > 0, key, "%q is no name of a resource", name)
	}
	fault(o.WebhookURL != "" && !isNamedURL(o.WebhookURL), "operator.webhookUrl",
		"must be an https URL with a host name, not an address, and without a user or password, such as https://operator.example.com:9443")
	for _, name := range o.Namespaces() {
		fault(len(validation.IsDNS1123Label(name)) > 0, "operator.watchNamespace", "%q is no name of a namespace", name)
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (e EmbeddedServer) validate(fault func(bad bool, key, format string, args ...any)) {
	fault(!filepath.IsAbs(e.DataDir), "embeddedServer.dataDir", "must be an absolute path of a directory on a volume, such as /var/lib/garm-operator")
	fault(!isHostPort(e.ListenAddress), "embeddedServer.listenAddress", "must be host:port, such as :9997")
	host, _, _ := net.SplitHostPort(e.ListenAddress)
	fault(host != "" && net.ParseIP(host) == nil, "embeddedServer.listenAddress", "must have an IP address or nothing before the port")
	for key, u := range map[string]string{
		"embeddedServer.url": e.URL, "embeddedServer.metadataUrl": e.MetadataURL, "embeddedServer.callbackUrl": e.CallbackURL, "embeddedServer.webhookUrl": e.WebhookURL,
	} {
		login := weburl.HasLogin(u)
		fault(login, key, "must not hold a user or password, since runners and GitHub are told it and resources show it: leave out what is before the @")
		fault(u != "" && !login && !isWebURL(u), key, "must be a URL such as http://garm-server.garm-operator-system.svc:9997, with scheme and host")
	}
	fault(e.ProvidersFile != "" && !filepath.IsAbs(e.ProvidersFile), "embeddedServer.providersFile", "must be an absolute path of a TOML file")
}

// serverURL reads garm.server, which may lack a scheme.
func serverURL(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	return url.Parse(text)
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isNamedURL says whether a URL is one that a certificate with names can be good for.
func isNamedURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.User == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil
}

func isHostPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
