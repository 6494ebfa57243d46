package operator

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// apiServer is the API server that the operator works with, and from where.
type apiServer struct {
	config *rest.Config
	// namespace is the operator's own: its Pod's, else that of the kubeconfig's context.
	namespace string
	inCluster bool
}

// findAPIServer follows the usual order, unless the options say which: the file that is named, the cluster that the process
// runs in, KUBECONFIG, ~/.kube/config.
func findAPIServer(cfg operatorconfig.Config, opts Options) (apiServer, error) {
	if opts.RestConfig != nil {
		return limited(apiServer{config: rest.CopyConfig(opts.RestConfig), namespace: opts.LeaderElectionNamespace}), nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = cfg.Kubernetes.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: cfg.Kubernetes.Context})
	namespace, _, err := loader.Namespace()
	if err != nil {
		return apiServer{}, fmt.Errorf("find the operator's namespace: %w", err)
	}
	if cfg.Kubernetes.Kubeconfig == "" && cfg.Kubernetes.Context == "" {
		if c, err := rest.InClusterConfig(); err == nil {
			return limited(apiServer{config: c, namespace: namespace, inCluster: true}), nil
		}
	}
	c, err := loader.ClientConfig()
	if err != nil {
		return apiServer{}, fmt.Errorf("find the Kubernetes API server: %w", err)
	}
	return limited(apiServer{config: c, namespace: namespace}), nil
}

func limited(a apiServer) apiServer {
	a.config.QPS, a.config.Burst = kubernetesQPS, kubernetesBurst
	if a.namespace == "" {
		a.namespace = "default"
	}
	return a
}
