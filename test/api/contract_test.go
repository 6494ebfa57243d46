package api_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/config/crd"
)

// contract is what programs and people rely on in a definition. A field is "name type", with an exclamation mark when the
// schema requires it.
type contract struct {
	kind, plural, shortName string
	subresources            string
	spec, status            string
}

const (
	entitySpec   = "credentialsRef object! deletionPolicy string name string poolBalancerType string webhookSecretRef object!"
	hookedSpec   = "credentialsRef object! deletionPolicy string name string poolBalancerType string webhook object webhookSecretRef object!"
	entityStatus = "conditions array controllerId string endpoint string id string! name string observedGeneration integer"
)

var contracts = []contract{
	{"Enterprise", "enterprises", "ent", "status", entitySpec, entityStatus},
	{"Organization", "organizations", "org", "status", hookedSpec, entityStatus},
	{
		"Repository", "repositories", "repo", "status",
		"credentialsRef object! deletionPolicy string name string owner string! poolBalancerType string webhook object webhookSecretRef object!", entityStatus,
	},
	{
		"Pool", "pools", "", "status scale",
		"deletionPolicy string enabled boolean! extraSpecs string flavor string! githubRunnerGroup string githubScopeRef object! imageName string! " +
			"maxRunners integer! minIdleRunners integer! osArch string! osType string! priority integer providerName string! " +
			"rotateOutdatedRunners boolean runnerBootstrapTimeout integer! runnerPrefix string tags array!",
		"conditions array controllerId string id string! longRunningIdleRunners integer! observedGeneration integer " +
			"revision string selector string! tags array",
	},
	{"Image", "images", "", "", "tag string", ""},
	{
		"Runner", "runners", "run", "status", "",
		"addresses array agentId integer! conditions array controllerId string githubRunnerGroup string! id string " +
			"instanceStatus string name string observedGeneration integer osArch string osName string osType string osVersion string " +
			"poolId string providerFault string providerId string status string",
	},
	{
		"GarmServerConfig", "garmserverconfigs", "", "status",
		"callbackUrl string metadataUrl string webhookUrl string",
		"callbackUrl string conditions array controllerId string controllerWebhookUrl string hostname string metadataUrl string " +
			"minimumJobAgeBackoff integer observedGeneration integer version string webhookUrl string",
	},
	{
		"GitHubEndpoint", "githubendpoints", "", "status",
		"apiBaseUrl string baseUrl string caCertBundleSecretRef object deletionPolicy string description string uploadBaseUrl string",
		"conditions array controllerId string observedGeneration integer",
	},
	{
		"GitHubCredential", "githubcredentials", "", "status",
		"appId integer authType string! deletionPolicy string description string! endpointRef object! installationId integer secretRef object",
		"apiBaseUrl string! baseUrl string! conditions array controllerId string enterprises array id integer! " +
			"observedGeneration integer organizations array repositories array uploadBaseUrl string!",
	},
}

func definitions(t *testing.T) map[string]apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definitions := map[string]apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		content, err := fs.ReadFile(crd.Bases, file)
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &definition); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		definitions[definition.Spec.Names.Kind] = definition
	}
	return definitions
}

func TestContract(t *testing.T) {
	found := definitions(t)
	if len(found) != len(contracts) {
		t.Errorf("%d definitions, want %d", len(found), len(contracts))
	}
	for _, want := range contracts {
		t.Run(want.kind, func(t *testing.T) {
			definition := found[want.kind]
			version := versionOf(t, definition, "v1beta1")
			want.holds(t, definition, version)
			if !version.Served || !version.Storage || version.Deprecated || definition.Spec.Scope != apiextensionsv1.NamespaceScoped {
				t.Errorf("served %t stored %t deprecated %t %s", version.Served, version.Storage, version.Deprecated, definition.Spec.Scope)
			}
			names := definition.Spec.Names
			if !slices.Equal(names.Categories, []string{"garm"}) || names.ListKind != want.kind+"List" || names.Singular != strings.ToLower(want.kind) {
				t.Errorf("names are %+v", names)
			}
		})
	}
}

// holds compares a version of a definition with what is promised.
func (c contract) holds(t *testing.T, definition apiextensionsv1.CustomResourceDefinition, version apiextensionsv1.CustomResourceDefinitionVersion) {
	t.Helper()
	names, schema := definition.Spec.Names, version.Schema.OpenAPIV3Schema
	got := contract{
		names.Kind, names.Plural, strings.Join(names.ShortNames, " "), subresources(version.Subresources),
		fieldsOf(schema.Properties["spec"]), fieldsOf(schema.Properties["status"]),
	}
	if diff := cmp.Diff(c, got, cmp.AllowUnexported(contract{})); diff != "" {
		t.Error(diff)
	}
	if len(schema.Required) > 0 {
		t.Errorf("the top level requires %v, and stored objects may lack it", schema.Required)
	}
}

func versionOf(
	t *testing.T, definition apiextensionsv1.CustomResourceDefinition, name string,
) apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	for _, version := range definition.Spec.Versions {
		if version.Name == name {
			return version
		}
	}
	t.Fatalf("%s has no version %s", definition.Name, name)
	return apiextensionsv1.CustomResourceDefinitionVersion{}
}

func subresources(of *apiextensionsv1.CustomResourceSubresources) string {
	var names []string
	if of != nil && of.Status != nil {
		names = append(names, "status")
	}
	if of != nil && of.Scale != nil {
		names = append(names, "scale")
	}
	return strings.Join(names, " ")
}

func fieldsOf(schema apiextensionsv1.JSONSchemaProps) string {
	var fields []string
	for name, property := range schema.Properties {
		field := name + " " + property.Type
		if slices.Contains(schema.Required, name) {
			field += "!"
		}
		fields = append(fields, field)
	}
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

func TestPoolScalePaths(t *testing.T) {
	selector := ".status.selector"
	want := &apiextensionsv1.CustomResourceSubresourceScale{
		SpecReplicasPath: ".spec.minIdleRunners", StatusReplicasPath: ".status.longRunningIdleRunners", LabelSelectorPath: &selector,
	}
	for _, version := range definitions(t)["Pool"].Spec.Versions {
		if diff := cmp.Diff(want, version.Subresources.Scale); diff != "" {
			t.Errorf("%s: %s", version.Name, diff)
		}
	}
}

// TestEveryFieldIsExplained keeps kubectl explain useful: every kind and every field of either version says what it is for, with
// the values that it may have and the one that it has by default.
func TestEveryFieldIsExplained(t *testing.T) {
	for kind, definition := range definitions(t) {
		for _, version := range definition.Spec.Versions {
			for _, path := range unexplained(*version.Schema.OpenAPIV3Schema, kind) {
				t.Errorf("%s %s", version.Name, path)
			}
		}
	}
}

func unexplained(schema apiextensionsv1.JSONSchemaProps, path string) []string {
	var paths []string
	if schema.Description == "" {
		paths = append(paths, path+" has no description")
	}
	named := slices.Clone(schema.Enum)
	if schema.Default != nil {
		named = append(named, *schema.Default)
	}
	for _, value := range named {
		if text := strings.Trim(string(value.Raw), `"`); !strings.HasSuffix(path, ".conditions.status") && !strings.Contains(schema.Description, text) {
			paths = append(paths, path+" does not explain the value "+text)
		}
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		for name, property := range schema.Items.Schema.Properties {
			paths = append(paths, unexplained(property, path+"."+name)...)
		}
	}
	for name, property := range schema.Properties {
		if name != "metadata" {
			paths = append(paths, unexplained(property, path+"."+name)...)
		}
	}
	return paths
}
