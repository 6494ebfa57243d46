package monitoring_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsyaml "sigs.k8s.io/yaml"
)

// shownKind is a resource of which every field that is shown has a value of its own, and what is shown of it, besides its name, its
// namespace and what kube-state-metrics adds to all.
type shownKind struct {
	content string
	want    map[string]float64
}

const (
	created    = 1767225600 // 2026-01-01
	entitySpec = "spec: {credentialsRef: {name: bot}, webhookSecretRef: {name: hook, key: value}, owner: octo}\n"
	conditions = `[{type: Ready, status: "True", reason: A}, {type: Stalled, status: "False", reason: B}]`
	statusOf   = "status: {id: i-1, conditions: " + conditions + "}\n"
)

func entityWant(prefix, owner string) map[string]float64 {
	return map[string]float64{
		prefix + "_created": created,
		prefix + "_info credentialsRefName=bot id=i-1" + owner + " webhookSecretRefKey=value webhookSecretRefName=hook": 1,
		prefix + "_annotation_paused_info paused_value=holiday":                                                         1,
		prefix + "_status_conditions type=Ready":                                                                        1,
		prefix + "_status_conditions type=Stalled":                                                                      0,
	}
}

var shownKinds = map[string]shownKind{
	"Enterprise":   {entitySpec + statusOf, entityWant("enterprise", "")},
	"Organization": {entitySpec + statusOf, entityWant("org", "")},
	"Repository":   {entitySpec + statusOf, entityWant("repo", " owner=octo")},
	"Pool": {
		`spec: {githubRunnerGroup: group, githubScopeRef: {kind: Organization, name: octo}, imageName: image, osArch: arm64, osType: windows, providerName: cloud,
  runnerBootstrapTimeout: 21, runnerPrefix: ci, tags: [a, b], minIdleRunners: 2, maxRunners: 5, enabled: true}
status: {id: i-1, longRunningIdleRunners: 3, conditions: ` + conditions + "}\n",
		map[string]float64{
			"pool_created": created,
			"pool_info githubRunnerGroup=group id=i-1 imageName=image osArch=arm64 osType=windows providerName=cloud runnerBootstrapTimeout=21 runnerPrefix=ci " +
				"scopeKind=Organization scopeName=octo tags=[a b]": 1,
			"pool_enabled": 1, "pool_min_idle_runners": 2, "pool_max_runners": 5, "status_long_running_idle_runners": 3,
			"pool_annotation_paused_info paused_value=holiday": 1, "pool_status_conditions type=Ready": 1, "pool_status_conditions type=Stalled": 0,
		},
	},
	"Image": {"spec: {tag: 'ubuntu:1'}\n", map[string]float64{"image_created": created, "image_info tag=ubuntu:1": 1}},
	"GarmServerConfig": {
		"spec: {callbackUrl: c, metadataUrl: m, webhookUrl: w}\nstatus: {controllerId: i-1, minimumJobAgeBackoff: 30, version: v1, callbackUrl: x, metadataUrl: y, webhookUrl: z}\n",
		map[string]float64{
			"garmserverconfig_created": created,
			"garmserverconfig_info callbackUrl=c controllerId=i-1 metadataUrl=m minimumJobAgeBackoff=30 version=v1 webhookUrl=w": 1,
		},
	},
	"GitHubEndpoint": {
		"spec: {apiBaseUrl: a, baseUrl: b, uploadBaseUrl: u}\nstatus: {conditions: " + conditions + "}\n",
		map[string]float64{
			"githubendpoint_created": created, "githubendpoint_info apiBaseUrl=a baseUrl=b uploadBaseUrl=u": 1,
			"githubendpoint_status_conditions type=Ready": 1, "githubendpoint_status_conditions type=Stalled": 0,
		},
	},
	"GitHubCredential": {
		"spec: {authType: pat, secretRef: {name: s, key: k}, endpointRef: {name: e}}\nstatus: {id: 7, apiBaseUrl: a, baseUrl: b, uploadBaseUrl: u, conditions: " + conditions + "}\n",
		map[string]float64{
			"githubcredential_created": created,
			"githubcredential_info apiBaseUrl=a authType=pat baseUrl=b endpointRefName=e id=7 secretRefKey=k secretRefName=s uploadBaseUrl=u": 1,
			"githubcredential_status_conditions type=Ready": 1, "githubcredential_status_conditions type=Stalled": 0,
		},
	},
	"Runner": {
		"status: {id: i-1, poolId: p, status: idle, instanceStatus: running, providerId: vm, osType: linux, osArch: arm64}\n",
		map[string]float64{"runner_created": created, "runner_info id=i-1 instanceStatus=running osArch=arm64 osType=linux pool=p providerId=vm status=idle": 1},
	},
}

// OP-63: each metric of each kind is taken from where it stands in the resource, and from nowhere else.
func TestOP63KubeStateMetricsPaths(t *testing.T) {
	resources := configuration(t).Spec.Resources
	if len(resources) != len(shownKinds) {
		t.Errorf("%d kinds are configured, not %d", len(resources), len(shownKinds))
	}
	for _, resource := range resources {
		kind := resource.GroupVersionKind.Kind
		t.Run(kind, func(t *testing.T) {
			if gv := resource.GroupVersionKind; gv.Group != "garm-operator.mercedes-benz.com" || gv.Version != "v1beta1" {
				t.Errorf("shown are %s/%s", gv.Group, gv.Version)
			}
			var object unstructured.Unstructured
			meta := "metadata: {name: one, namespace: ns, creationTimestamp: '2026-01-01T00:00:00Z', annotations: {garm-operator.mercedes-benz.com/paused: holiday}}\n"
			if err := sigsyaml.Unmarshal([]byte(meta+shownKinds[kind].content), &object.Object); err != nil {
				t.Fatal(err)
			}
			out := &bytes.Buffer{}
			shownOf(t, resource, []unstructured.Unstructured{object}, out)
			got := map[string]float64{}
			for name, family := range families(t, asGauges(out.Bytes())) {
				for _, m := range family.GetMetric() {
					labels := map[string]string{}
					for _, l := range m.GetLabel() {
						labels[l.GetName()] = l.GetValue()
					}
					if labels["name"] != "one" || labels["namespace"] != "ns" || labels["crd_type"] != strings.ToLower(kind) {
						t.Errorf("%s has the labels %v", name, labels)
					}
					sample := strings.TrimPrefix(name, "garm_operator_")
					for _, label := range slices.Sorted(maps.Keys(labels)) {
						if label != "name" && label != "namespace" && label != "crd_type" && !strings.HasPrefix(label, "customresource_") {
							sample += " " + label + "=" + labels[label]
						}
					}
					got[sample] = m.GetGauge().GetValue()
				}
			}
			if diff := cmp.Diff(shownKinds[kind].want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
