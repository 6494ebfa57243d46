package operator

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// kubeconfig follows the usual order: the file that is named, the cluster that the process runs in, KUBECONFIG,
// ~/.kube/config.
func kubeconfig(cfg operatorconfig.Kubernetes) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = cfg.Kubeconfig
	if cfg.Kubeconfig == "" && cfg.Context == "" {
		if c, err := rest.InClusterConfig(); err == nil {
			return c, nil
		}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: cfg.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
}
