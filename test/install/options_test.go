package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/garm-operator/garm-operator/internal/dev/manifests"
)

// What the options add is about the Pods that are there and their ports, and Prometheus keeps the labels that the alerts tell
// resources apart by.
func TestOptionsFit(t *testing.T) {
	t.Parallel()
	for name, components := range map[string][]string{
		"plain metrics":  {"components/network-policy", "components/pdb", "components/prometheus"},
		"secure metrics": {"components/prometheus", "components/metrics-secure", "components/metrics-secure/prometheus"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := manifests.Expand(kustomize(t, manifests.Install(components...)), rendered)
			objects := normal(t, text)
			deployment := objects["Deployment garm-operator-system/garm-operator-controller-manager"].(*appsv1.Deployment)
			pod, container := labels.Set(deployment.Spec.Template.Labels), deployment.Spec.Template.Spec.Containers[0]
			hasPort := func(name string) bool {
				return slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
			}
			checked := 0
			for key, o := range objects {
				switch o := o.(type) {
				case *policyv1.PodDisruptionBudget:
					checked++
					if !labels.SelectorFromSet(o.Spec.Selector.MatchLabels).Matches(pod) || o.Spec.MinAvailable.IntValue() != 1 || *deployment.Spec.Replicas < 2 {
						t.Errorf("%s is %+v, with %d replicas", key, o.Spec, *deployment.Spec.Replicas)
					}
				case *networkingv1.NetworkPolicy:
					checked++
					if !labels.SelectorFromSet(o.Spec.PodSelector.MatchLabels).Matches(pod) {
						t.Errorf("%s selects %v", key, o.Spec.PodSelector)
					}
					for _, rule := range o.Spec.Ingress {
						for _, port := range rule.Ports {
							if !hasPort(port.Port.StrVal) {
								t.Errorf("%s opens the port %v, which the Pods do not have", key, port.Port)
							}
						}
					}
				}
			}
			if want := 2; name == "plain metrics" && checked != want {
				t.Errorf("%d policies and budgets, not %d", checked, want)
			}
			monitored(t, text, hasPort, name == "secure metrics")
		})
	}
}

// A Prometheus that goes by annotations is told of TLS where there is any, and of nothing where a ServiceMonitor leads it.
func TestMetricsAnnotations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		components []string
		want       map[string]string
	}{
		"plain":   {nil, map[string]string{"scrape": "true", "path": "/metrics", "port": "8080"}},
		"secure":  {[]string{"components/metrics-secure"}, map[string]string{"scrape": "true", "path": "/metrics", "port": "8080", "scheme": "https"}},
		"monitor": {[]string{"components/prometheus"}, map[string]string{}},
		"both":    {[]string{"components/prometheus", "components/metrics-secure", "components/metrics-secure/prometheus"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := normal(t, manifests.Expand(kustomize(t, manifests.Install(c.components...)), rendered))
			got := map[string]string{}
			for key, value := range objects["Deployment garm-operator-system/garm-operator-controller-manager"].(*appsv1.Deployment).Spec.Template.Annotations {
				if what, ok := strings.CutPrefix(key, "prometheus.io/"); ok {
					got[what] = value
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

// monitored checks the ServiceMonitor, and the Service that it leads to.
func monitored(t *testing.T, text []byte, hasPort func(string) bool, secure bool) {
	t.Helper()
	objects, err := manifests.Decode(text) // as it is, with every label
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "ServiceMonitor" })
	if i < 0 {
		t.Fatal("there is no ServiceMonitor")
	}
	spec := objects[i].Object["spec"].(map[string]any)
	wanted, _, err := unstructured.NestedStringMap(spec, "selector", "matchLabels")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := spec["endpoints"].([]any)[0].(map[string]any)
	if endpoint["honorLabels"] != true {
		t.Error("Prometheus would take the namespace of the operator for that of the resources")
	}
	if (endpoint["scheme"] == "https") != secure || (endpoint["bearerTokenFile"] != nil) != secure {
		t.Errorf("the endpoint is %v", endpoint)
	}
	found := 0
	for _, o := range objects {
		if o.GetKind() != "Service" || !labels.SelectorFromSet(wanted).Matches(labels.Set(o.GetLabels())) {
			continue
		}
		for _, port := range o.Object["spec"].(map[string]any)["ports"].([]any) {
			if port := port.(map[string]any); port["name"] == endpoint["port"] && hasPort(port["targetPort"].(string)) {
				found++
			}
		}
	}
	if found != 1 {
		t.Errorf("the ServiceMonitor finds %d Services with the port %v", found, endpoint["port"])
	}
}
