package operatorconfig

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
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
	_, err := url.Parse(g.Server)
	fault(g.Server == "", "garm.server", "is required: the URL of the GARM server (--garm-server)")
	fault(err != nil, "garm.server", "is not a URL")
	fault(g.Username == "", "garm.username", "is required (--garm-username)")
	fault(g.Password == "" && g.PasswordFile == "", "garm.password", "is required, or garm.passwordFile (--garm-password-file)")
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
	for _, name := range o.Namespaces() {
		fault(len(validation.IsDNS1123Label(name)) > 0, "operator.watchNamespace", "%q is no name of a namespace", name)
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func isHostPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
