package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	oldEntitySpec   = "credentialsName string! name string webhookSecretRef object!"
	oldEntityStatus = "conditions array id string! name string"
)

// oldContracts are what v1alpha1 was and stays, and the name, without which a replace would lose it.
var oldContracts = []contract{
	{"Enterprise", "enterprises", "ent", "status", oldEntitySpec, oldEntityStatus},
	{"Organization", "organizations", "org", "status", oldEntitySpec, oldEntityStatus},
	{"Repository", "repositories", "repo", "status", "credentialsName string! name string owner string! webhookSecretRef object!", oldEntityStatus},
	{
		"Pool", "pools", "", "status scale",
		"enabled boolean! extraSpecs string flavor string! githubRunnerGroup string githubScopeRef object! imageName string! " +
			"maxRunners integer! minIdleRunners integer! osArch string! osType string! providerName string! " +
			"runnerBootstrapTimeout integer! runnerPrefix string tags array!",
		"conditions array id string! longRunningIdleRunners integer! selector string!",
	},
	{"Image", "images", "", "", "tag string", ""},
	{
		"Runner", "runners", "run", "status", "",
		"addresses array agentId integer! githubRunnerGroup string! id string instanceStatus string name string osArch string " +
			"osName string osType string osVersion string poolId string providerFault string providerId string status string",
	},
}

func TestV1alpha1Contract(t *testing.T) {
	found := definitions(t)
	for _, want := range oldContracts {
		t.Run("OP-60 "+want.kind, func(t *testing.T) {
			definition := found[want.kind]
			version, newer := versionOf(t, definition, "v1alpha1"), versionOf(t, definition, "v1beta1")
			want.holds(t, definition, version)
			if !version.Served || version.Storage || !version.Deprecated || version.DeprecationWarning == nil ||
				!strings.Contains(*version.DeprecationWarning, "v1beta1 "+want.kind) {
				t.Errorf("served %t stored %t deprecated %t", version.Served, version.Storage, version.Deprecated)
			}
			if diff := cmp.Diff(newer.AdditionalPrinterColumns, version.AdditionalPrinterColumns); diff != "" {
				t.Errorf("columns are not those of v1beta1:\n%s", diff)
			}
			if diff := cmp.Diff(selectable(newer), selectable(version)); diff != "" {
				t.Errorf("selectable fields are not those of v1beta1:\n%s", diff)
			}
		})
	}
}

func selectable(version apiextensionsv1.CustomResourceDefinitionVersion) []string {
	var paths []string
	for _, field := range version.SelectableFields {
		paths = append(paths, field.JSONPath)
	}
	slices.Sort(paths)
	return paths
}
