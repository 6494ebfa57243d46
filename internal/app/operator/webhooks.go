package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/operator/access"
	"github.com/garm-operator/garm-operator/internal/operator/admission"
	"github.com/garm-operator/garm-operator/internal/operator/webhookcert"
)

// conversionPath is where the API server has resources converted between versions.
const conversionPath = "/convert"

// webhooks is the webhook server with its certificate. Without a server, nothing is served.
type webhooks struct {
	server webhook.Server
	// keeper makes the certificate; nil where files hold it.
	keeper *webhookcert.Keeper
}

// newWebhooks makes what the configuration asks for. missing is told which rights the certificate lacks.
func newWebhooks(cfg operatorconfig.Operator, opts Options, api apiServer, missing func([]access.Right)) (*webhooks, error) {
	if !serves(cfg, api.inCluster) {
		return &webhooks{}, nil
	}
	o := webhook.Options{Port: cfg.WebhookPort, CertDir: cfg.WebhookCertDir}
	if fromFiles(cfg) {
		return &webhooks{server: webhook.NewServer(o)}, nil
	}
	options := webhookcert.Options{
		Secret:        types.NamespacedName{Namespace: api.namespace, Name: cfg.WebhookSecret},
		Configuration: cfg.WebhookConfiguration, Definitions: definitions(), Log: opts.Log.WithName("webhook-certificate"),
		Addresses: addresses(cfg), Missing: missing,
	}
	if opts.Certificate != nil {
		opts.Certificate(&options)
	}
	keeper, err := webhookcert.New(api.config, options)
	if err != nil {
		return nil, err
	}
	o.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = keeper.GetCertificate }}
	return &webhooks{server: webhook.NewServer(o), keeper: keeper}, nil
}

// addresses are where the API server may call this process by URL: where the configuration says, or else this machine.
func addresses(cfg operatorconfig.Operator) []string {
	if u, err := url.Parse(cfg.WebhookURL); err == nil && u.Host != "" {
		return []string{webhookcert.Address(u)}
	}
	var all []string
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, strings.ToLower(name))
	}
	for _, host := range hosts {
		all = append(all, net.JoinHostPort(host, strconv.Itoa(cfg.WebhookPort)))
	}
	return all
}

// serves says whether webhooks are served: where it is not said, inside a cluster only.
func serves(cfg operatorconfig.Operator, inCluster bool) bool {
	return cfg.WebhookEnabled == "true" || (cfg.WebhookEnabled != "false" && inCluster)
}

// fromFiles says whether the certificate is in files, as cert-manager and the known operator's manifests have it.
func fromFiles(cfg operatorconfig.Operator) bool {
	switch cfg.WebhookCertificates {
	case operatorconfig.CertificatesFiles:
		return true
	case operatorconfig.CertificatesSelfMade:
		return false
	}
	if cfg.WebhookCertDir != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs", "tls.crt"))
	return err == nil
}

// definitions returns the names of the custom resource definitions that have two versions.
func definitions() []string {
	var names []string
	for _, r := range access.Resources() {
		if r.Old {
			names = append(names, r.Plural+"."+v1beta1.Group)
		}
	}
	return names
}

// setup adds the server to the manager, which starts it before any cache fills and on every replica, and makes readiness
// wait for its certificate.
func (w *webhooks) setup(ctx context.Context, mgr ctrl.Manager, namespaces []string) error {
	if w.server == nil {
		return nil
	}
	server := mgr.GetWebhookServer()
	server.Register(conversionPath, conversion.NewWebhookHandler(mgr.GetScheme(), mgr.GetConverterRegistry()))
	if err := admission.Register(server, mgr.GetClient(), mgr.GetAPIReader(), namespaces).Watch(ctx, mgr.GetCache()); err != nil {
		return err
	}
	if w.keeper != nil {
		if err := mgr.AddReadyzCheck("webhook-certificate", w.keeper.Ready); err != nil {
			return err
		}
	}
	return mgr.AddReadyzCheck("webhooks", server.StartedChecker())
}

// run runs the manager, and the keeper of the certificate beside it: the manager's caches may need the webhook server, which
// needs the certificate, to fill.
func (w *webhooks) run(ctx context.Context, mgr ctrl.Manager) error {
	if w.keeper == nil {
		return mgr.Start(ctx)
	}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := w.keeper.Start(running); err != nil {
			return fmt.Errorf("keep the certificate of the webhook server: %w", err)
		}
		return nil
	})
	group.Go(func() error { return mgr.Start(running) })
	return group.Wait()
}
