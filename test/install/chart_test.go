package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/internal/dev/manifests"
)

// variables of an installation that is only rendered.
var rendered = map[string]string{
	"GARM_SERVER_URL": "https://garm.example.com", "GARM_SERVER_USERNAME": "admin", "GARM_SERVER_PASSWORD": "correct-horse", "OPERATOR_WATCH_NAMESPACE": namespace,
}

// values are the same as a chart's.
func values(more map[string]any) map[string]any {
	all := map[string]any{"garm": map[string]any{"server": "https://garm.example.com", "username": "admin", "password": "correct-horse"}}
	for key, value := range more {
		all[key] = value
	}
	return all
}

// valuesOf reads the values of a choice, with which "make verify-chart" compares Helm 3 and Helm 4.
func valuesOf(t *testing.T, choice string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "values", choice+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func on(key string) map[string]any { return map[string]any{key: true} }

// The same choices give the same objects, whether Helm or kustomize renders them.
func TestChartAndKustomizeAgree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		components []string
		more       []manifests.Overlay
		watch      string
	}{
		"default":        {},
		"all-namespaces": {components: []string{"components/all-namespaces"}},
		"several-namespaces": {
			watch: "garm-operator-system,team-a", more: []manifests.Overlay{{Namespace: "team-a", Resources: []string{"rbac/namespace"}}},
		},
		"other-namespaces": {
			components: []string{"components/other-namespaces"},
			watch:      "team-a,team-b",
			more: []manifests.Overlay{
				{Namespace: "team-a", Resources: []string{"rbac/namespace"}}, {Namespace: "team-b", Resources: []string{"rbac/namespace"}},
			},
		},
		"cert-manager":    {components: []string{"components/certmanager"}},
		"embedded-server": {components: []string{"components/embedded-server"}},
		"embedded-server-with-providers": {
			components: []string{"components/embedded-server", "components/embedded-server-providers"},
		},
		"embedded-server-with-a-network-policy": {
			components: []string{"components/embedded-server", "components/network-policy", "components/network-policy/garm"},
		},
		"secure-metrics": {
			components: []string{"components/prometheus", "components/metrics-secure", "components/metrics-secure/prometheus"},
		},
		"secure-metrics-by-annotation": {components: []string{"components/metrics-secure"}},
		"everything-else": {
			components: []string{"components/network-policy", "components/pdb", "components/prometheus"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variables := map[string]string{}
			for key, value := range rendered {
				variables[key] = value
			}
			if c.watch != "" {
				variables["OPERATOR_WATCH_NAMESPACE"] = c.watch
			}
			text := kustomize(t, manifests.Install(c.components...))
			for _, o := range c.more {
				text = append(append(text, "---\n"...), kustomize(t, o)...)
			}
			chart, err := tools.Helm(t.Context(), namespace, valuesOf(t, name))
			if err != nil {
				t.Fatal(err)
			}
			want, got := normal(t, manifests.Expand(text, variables)), normal(t, chart)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("kustomize (-) and Helm (+) differ:\n%s", diff)
			}
		})
	}
}

func normal(t *testing.T, text []byte) map[string]any {
	t.Helper()
	objects, err := manifests.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	objectsByName, err := manifests.Normal(objects)
	if err != nil {
		t.Fatal(err)
	}
	return objectsByName
}

// Values that cannot work are refused with a word on what to do.
func TestChartRefusesBadValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values map[string]any
		want   []string
	}{
		"no server":            {nil, []string{"garm.server", "embeddedServer.enabled"}},
		"both servers":         {values(map[string]any{"embeddedServer": on("enabled")}), []string{"garm.server", "embeddedServer.enabled", "exclude each other"}},
		"server without http":  {map[string]any{"garm": map[string]any{"server": "garm:9997"}}, []string{"/garm/server", "https?"}},
		"a misspelt key":       {values(map[string]any{"replica": 2}), []string{"replica"}},
		"replicas as text":     {values(map[string]any{"replicas": "2"}), []string{"/replicas", "integer"}},
		"replicas of embedded": {map[string]any{"embeddedServer": on("enabled"), "replicas": 2}, []string{"replicas has to be 1"}},
		"lonely providers":     {values(map[string]any{"embeddedServer": map[string]any{"providersConfigMap": "p"}}), []string{"embeddedServer.enabled=true"}},
		"lonely PDB":           {values(map[string]any{"podDisruptionBudget": on("enabled")}), []string{"replicas of 2 or more"}},
		"all and some":         {values(map[string]any{"watchAllNamespaces": true, "watchNamespaces": []string{"a"}}), []string{"watchNamespaces has to be empty"}},
		"bad namespace":        {values(map[string]any{"watchNamespaces": []string{"Team_A"}}), []string{"/watchNamespaces/0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tools.Helm(t.Context(), namespace, c.values)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
		})
	}
}
