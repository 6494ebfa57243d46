package api_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

var (
	secretFields    = []string{"name", "key"}
	referenceFields = []string{"kind", "name"}
)

// below puts the path of what holds them before fields, and adds that path.
func below(path string, fields []string) []string {
	paths := []string{path}
	for _, field := range fields {
		paths = append(paths, path+"."+field)
	}
	return paths
}

// demand is one kind with the fields that a create may not leave out.
type demand struct {
	kind   string
	edits  []edit
	fields [][]string
}

func (d demand) holds(t *testing.T, version ...edit) {
	t.Helper()
	c := connect(t)
	for _, fields := range d.fields {
		for _, field := range fields {
			t.Run(d.kind+" without "+field, func(t *testing.T) {
				object := c.manifest(t, d.kind, "sample", append(append(version, d.edits...), without(field))...)
				judge(t, object, c.Create(t.Context(), object, client.DryRunAll), field+": Required")
			})
		}
	}
}

func TestRequired(t *testing.T) {
	for _, d := range []demand{
		{v1beta1.KindEnterprise, nil, [][]string{
			below("spec.credentialsRef", referenceFields), below("spec.webhookSecretRef", secretFields),
		}},
		{v1beta1.KindOrganization, []edit{set("spec.webhook", "{install: true}")}, [][]string{
			below("spec.credentialsRef", referenceFields), below("spec.webhookSecretRef", secretFields), {"spec.webhook.install"},
		}},
		{v1beta1.KindRepository, []edit{set("spec.webhook", "{install: true}")}, [][]string{
			below("spec.credentialsRef", referenceFields), below("spec.webhookSecretRef", secretFields), {"spec.webhook.install", "spec.owner"},
		}},
		{v1beta1.KindPool, nil, [][]string{poolFields}},
		{v1beta1.KindGitHubEndpoint, []edit{set("spec.caCertBundleSecretRef", "{name: ca, key: ca.pem}")}, [][]string{
			{"spec.caCertBundleSecretRef.name", "spec.caCertBundleSecretRef.key"},
		}},
		{v1beta1.KindGitHubCredential, nil, [][]string{
			below("spec.endpointRef", referenceFields), {"spec.authType", "spec.description", "spec.secretRef.name", "spec.secretRef.key"},
		}},
	} {
		d.holds(t)
	}
}

var poolFields = append(below("spec.githubScopeRef", referenceFields),
	"spec.providerName", "spec.maxRunners", "spec.flavor", "spec.osType", "spec.osArch", "spec.tags", "spec.enabled", "spec.runnerBootstrapTimeout", "spec.imageName")

func TestV1alpha1Required(t *testing.T) {
	secret := below("spec.webhookSecretRef", secretFields)
	named := []edit{without("spec.credentialsRef"), text("spec.credentialsName", "github")}
	for _, d := range []demand{
		{v1beta1.KindEnterprise, named, [][]string{secret, {"spec.credentialsName"}}},
		{v1beta1.KindOrganization, named, [][]string{secret, {"spec.credentialsName"}}},
		{v1beta1.KindRepository, named, [][]string{secret, {"spec.credentialsName", "spec.owner"}}},
		{v1beta1.KindPool, nil, [][]string{poolFields}},
	} {
		d.holds(t, alpha)
	}
}
