package monitoring_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	generator "k8s.io/kube-state-metrics/v2/pkg/metric_generator"
	metricsstore "k8s.io/kube-state-metrics/v2/pkg/metrics_store"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

const kubeStateMetricsFile = "config/kube-state-metrics/kube-state-metrics-config.yaml"

// known are the metrics that users of the known operator have, and those of Runners, with the labels besides name,
// namespace, crd_type and what kube-state-metrics adds to all. Their names begin with garm_operator_.
var known = map[string][]string{
	"enterprise_created":                 {},
	"enterprise_info":                    {"credentialsRefName", "webhookSecretRefKey", "webhookSecretRefName", "id"},
	"enterprise_status_conditions":       {"type"},
	"org_created":                        {},
	"org_info":                           {"credentialsRefName", "webhookSecretRefKey", "webhookSecretRefName", "id"},
	"org_status_conditions":              {"type"},
	"repo_created":                       {},
	"repo_info":                          {"credentialsRefName", "webhookSecretRefKey", "webhookSecretRefName", "id", "owner"},
	"repo_status_conditions":             {"type"},
	"pool_created":                       {},
	"pool_info":                          {"githubRunnerGroup", "scopeKind", "scopeName", "imageName", "osArch", "osType", "providerName", "runnerBootstrapTimeout", "runnerPrefix", "tags", "id"},
	"pool_enabled":                       {},
	"pool_min_idle_runners":              {},
	"pool_max_runners":                   {},
	"status_long_running_idle_runners":   {},
	"pool_annotation_paused_info":        {"paused_value"},
	"pool_status_conditions":             {"type"},
	"image_created":                      {},
	"image_info":                         {"tag"},
	"garmserverconfig_created":           {},
	"garmserverconfig_info":              {"callbackUrl", "metadataUrl", "webhookUrl", "controllerId", "minimumJobAgeBackoff", "version"},
	"githubendpoint_created":             {},
	"githubendpoint_info":                {"apiBaseUrl", "baseUrl", "uploadBaseUrl"},
	"githubendpoint_status_conditions":   {"type"},
	"githubcredential_created":           {},
	"githubcredential_info":              {"authType", "secretRefKey", "secretRefName", "endpointRefName", "apiBaseUrl", "baseUrl", "uploadBaseUrl", "id"},
	"githubcredential_status_conditions": {"type"},
	"runner_created":                     {},
	"runner_info":                        {"id", "pool", "status", "instanceStatus", "providerId", "osType", "osArch"},
}

// unshown metrics are configured too, but nothing in the world has them: only a Pool is paused.
var unshown = []string{"enterprise_annotation_paused_info", "org_annotation_paused_info", "repo_annotation_paused_info"}

// absent labels have no value in the world, and are left out then.
var absent = map[string][]string{
	"pool_info": {"githubRunnerGroup"},
}

// configuration reads the file as kube-state-metrics does.
func configuration(t *testing.T) customresourcestate.Metrics {
	t.Helper()
	var configMap corev1.ConfigMap
	if err := sigsyaml.UnmarshalStrict(read(t, kubeStateMetricsFile), &configMap); err != nil {
		t.Fatal(err)
	}
	if configMap.Name != "kube-state-metrics-config" {
		t.Errorf("the ConfigMap is named %s", configMap.Name)
	}
	text := configMap.Data["config.yaml"]
	if bad := regexp.MustCompile(`(?m)\t|[ \r]+$`).FindString(text); bad != "" || !strings.HasPrefix(text, "kind:") {
		t.Errorf("white space that kubectl shows as one long line, or cannot be read: %q", bad)
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	var config struct {
		Kind                        string `yaml:"kind"`
		customresourcestate.Metrics `yaml:",inline"`
	}
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	for i := range config.Spec.Resources {
		for j := range config.Spec.Resources[i].Metrics {
			each := &config.Spec.Resources[i].Metrics[j].Each
			each.Type = metric.Type(strings.ToLower(string(each.Type)))
		}
	}
	return config.Metrics
}

// kubeStateMetrics is what kube-state-metrics shows of the resources that the API server has.
func (w *world) kubeStateMetrics(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	out := &bytes.Buffer{}
	for _, resource := range configuration(t).Spec.Resources {
		gvk := schema.GroupVersionKind(resource.GroupVersionKind)
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := w.Kube.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) == 0 {
			t.Fatalf("there is no %s", gvk.Kind)
		}
		shownOf(t, resource, list.Items, out)
	}
	return families(t, asGauges(out.Bytes()))
}

// shownOf writes what kube-state-metrics shows of resources of one kind.
func shownOf(t *testing.T, resource customresourcestate.Resource, items []unstructured.Unstructured, out io.Writer) {
	t.Helper()
	factory, err := customresourcestate.NewCustomResourceMetrics(resource)
	if err != nil {
		t.Fatal(err)
	}
	generators := factory.MetricFamilyGenerators()
	store := metricsstore.NewMetricsStore(generator.ExtractMetricFamilyHeaders(generators), generator.ComposeMetricGenFuncs(generators))
	for i := range items {
		if err := store.Add(&items[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := metricsstore.NewMetricsWriter(factory.Name(), store).WriteAll(out); err != nil {
		t.Fatal(err)
	}
}

// asGauges does as kube-state-metrics does for clients without OpenMetrics.
func asGauges(text []byte) []byte {
	return regexp.MustCompile(`(?m)^(# TYPE \S+ )(?:info|stateset)$`).ReplaceAll(text, []byte("${1}gauge"))
}

// OP-63: kube-state-metrics reads the configuration, and shows every kind under the known names with the known labels.
func TestOP63KubeStateMetrics(t *testing.T) {
	w := running(t)
	shown := w.kubeStateMetrics(t)
	got, want := map[string][]string{}, map[string][]string{}
	for name, family := range shown {
		if len(family.GetMetric()) > 0 {
			labels := map[string]bool{}
			for _, m := range family.GetMetric() {
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = true
				}
			}
			got[strings.TrimPrefix(name, "garm_operator_")] = slices.Sorted(maps.Keys(labels))
		}
	}
	for name, labels := range known {
		all := append([]string{"crd_type", "name", "namespace", "customresource_group", "customresource_kind", "customresource_version"}, labels...)
		all = slices.DeleteFunc(all, func(l string) bool { return slices.Contains(absent[name], l) })
		slices.Sort(all)
		want[name] = all
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics and labels (-want +got):\n%s", diff)
	}
	configured := map[string]bool{}
	for _, r := range configuration(t).Spec.Resources {
		for _, m := range r.Metrics {
			configured[m.Name] = true
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(known)), unshown...) {
		if !configured[name] {
			t.Errorf("%s is not configured", name)
		}
	}

	pool := w.Pool("builders")
	if err := w.Kube.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		labels map[string]string
		value  float64
	}{
		{"pool_info", map[string]string{"name": "builders", "namespace": namespace, "crd_type": "pool", "id": pool.Status.ID, "scopeKind": "Organization", "scopeName": stack.Org, "tags": "[linux builders]", "runnerPrefix": "ci"}, 1},
		{"pool_created", map[string]string{"name": "builders"}, float64(pool.CreationTimestamp.Unix())},
		{"pool_enabled", map[string]string{"name": "builders"}, 1},
		{"pool_min_idle_runners", map[string]string{"name": "builders"}, 1},
		{"pool_max_runners", map[string]string{"name": "builders"}, 4},
		{"status_long_running_idle_runners", map[string]string{"name": "builders", "crd_type": "pool"}, 0},
		{"pool_status_conditions", map[string]string{"name": "builders", "type": "Ready"}, 1},
		{"pool_annotation_paused_info", map[string]string{"name": "paused", "paused_value": "holiday"}, 1},
		{"pool_status_conditions", map[string]string{"name": "paused", "type": "Paused"}, 1},
		{"org_status_conditions", map[string]string{"name": stack.Org, "type": "PoolManager"}, 1},
		{"repo_info", map[string]string{"name": "widgets", "owner": stack.Org}, 1},
		{"image_info", map[string]string{"name": stack.ImageName, "tag": "ubuntu-24.04"}, 1},
		{"runner_info", map[string]string{"pool": "builders", "osType": "linux"}, 1},
	} {
		if value, err := sample(shown["garm_operator_"+c.name], c.labels); err != nil || value != c.value {
			t.Errorf("%s%v is %v, not %v; %v", c.name, c.labels, value, c.value, err)
		}
	}
}

// sample returns the one sample that has the labels.
func sample(family *dto.MetricFamily, labels map[string]string) (float64, error) {
	var found []float64
	for _, m := range family.GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		matches := true
		for k, v := range labels {
			matches = matches && have[k] == v
		}
		if matches {
			found = append(found, m.GetGauge().GetValue()+m.GetUntyped().GetValue()+m.GetCounter().GetValue())
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d samples of %d fit", len(found), len(family.GetMetric()))
	}
	return found[0], nil
}
