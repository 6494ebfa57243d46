package api_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// change is one edit of a stored, valid object.
type change struct {
	name   string
	before edit
	after  edit
	want   string
}

func changes(t *testing.T, kind string, cases []change) {
	t.Helper()
	c := connect(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			object := c.manifest(t, kind, "")
			object.SetGenerateName("change-")
			if tc.before != nil {
				tc.before(t, object.Object)
			}
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatalf("create: %v", err)
			}
			edited := object.DeepCopy()
			tc.after(t, edited.Object)
			judge(t, edited, c.Update(t.Context(), edited), tc.want)
		})
	}
}

func TestPoolUpdate(t *testing.T) {
	const scope, provider = "githubScopeRef is immutable", "providerName is immutable"
	group := set("spec.githubScopeRef.apiGroup", v1beta1.Group)
	changes(t, v1beta1.KindPool, []change{
		{"OP-29 another provider", nil, set("spec.providerName", "other"), "spec.providerName & " + provider},
		{"OP-29 provider removed", nil, without("spec.providerName"), "spec.providerName: Required"},
		{"OP-29 scope of another name", nil, set("spec.githubScopeRef.name", "other"), "spec.githubScopeRef & " + scope},
		{"OP-29 scope of another kind", nil, set("spec.githubScopeRef.kind", "Enterprise"), "spec.githubScopeRef & " + scope},
		{"OP-29 scope removed", nil, without("spec.githubScopeRef"), "spec.githubScopeRef: Required"},
		{"OP-29 spec removed", nil, without("spec"), "spec is required"},
		{"OP-29 the scope's apiGroup added", nil, group, ""},
		{"OP-29 the scope's apiGroup removed", group, without("spec.githubScopeRef.apiGroup"), ""},
		{"OP-28 min above max", nil, set("spec.minIdleRunners", "5"), "minIdleRunners must not exceed maxRunners"},
		{"OP-28 max below min", set("spec.minIdleRunners", "3"), set("spec.maxRunners", "2"), "minIdleRunners must not exceed maxRunners"},
		{"every mutable field", nil, set("spec", `
githubScopeRef: {kind: Organization, name: octo-org}
providerName: local
maxRunners: 9
minIdleRunners: 9
flavor: large
osType: windows
osArch: arm64
tags: [windows, gpu]
enabled: false
runnerBootstrapTimeout: 30
imageName: windows
extraSpecs: '{"disk": 80}'
githubRunnerGroup: build
runnerPrefix: win`), ""},
		{"extraSpecs cleared", set("spec.extraSpecs", "'{}'"), without("spec.extraSpecs"), ""},
	})
}

func TestRepositoryUpdate(t *testing.T) {
	changes(t, v1beta1.KindRepository, []change{
		{"another owner", nil, set("spec.owner", "other"), "spec.owner & owner is immutable"},
		{"the owner in another case", nil, set("spec.owner", "Octo-Org"), "spec.owner & owner is immutable"},
		{"owner removed", nil, without("spec.owner"), "spec.owner: Required"},
		{"spec removed", nil, without("spec"), "spec is required"},
		{"another credential", nil, set("spec.credentialsRef.name", "other"), ""},
		{"the reference's kind corrected", set("spec.credentialsRef.kind", "GitHubCredentials"), set("spec.credentialsRef.kind", "GitHubCredential"), ""},
	})
}

func TestEntityNameUpdate(t *testing.T) {
	const immutable = "spec.name & spec.name is immutable"
	named := set("spec.name", "Octo_Org")
	for _, kind := range []string{v1beta1.KindEnterprise, v1beta1.KindOrganization, v1beta1.KindRepository} {
		t.Run(kind, func(t *testing.T) {
			changes(t, kind, []change{
				{"OP-13 another name", named, set("spec.name", "other"), immutable},
				{"OP-13 the name removed", named, without("spec.name"), immutable},
				{"OP-13 a name added", nil, named, immutable},
				{"OP-13 the name in another case", named, set("spec.name", "octo_org"), ""},
				{"OP-13 the resource's own name added in another case", set("metadata.name", "octo-org"), set("spec.name", "Octo-Org"), ""},
				{"balancer", nil, set("spec.poolBalancerType", "pack"), ""},
				{"webhook secret", nil, set("spec.webhookSecretRef", "{name: other, key: other}"), ""},
			})
		})
	}
}

// A name that got lost in a way that no rule sees, such as a backup, can be set again: to the one that the server has.
func TestOP13LostNameIsSetAgain(t *testing.T) {
	c := connect(t)
	for _, kind := range []string{v1beta1.KindEnterprise, v1beta1.KindOrganization, v1beta1.KindRepository} {
		for version, as := range map[string]edit{"v1beta1": func(*testing.T, map[string]any) {}, "v1alpha1": alpha} {
			t.Run(kind+" "+version, func(t *testing.T) {
				credential := set("spec.credentialsName", "github") // nobody converts here
				object := c.manifest(t, kind, "", credential, as)
				object.SetGenerateName("lost-")
				if err := c.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
				put(t, object.Object, map[string]any{"id": "e1", "name": "Octo_Org"}, "status")
				if err := c.Status().Update(t.Context(), object); err != nil {
					t.Fatal(err)
				}
				for name, want := range map[string]string{"other": "spec.name is immutable", "octo_org": "", "Octo_Org": ""} {
					put(t, object.Object, "github", "spec.credentialsName")
					put(t, object.Object, name, "spec.name")
					edited := object.DeepCopy()
					judge(t, edited, c.Update(t.Context(), edited, client.DryRunAll), want)
				}
			})
		}
	}
}

func TestCredentialUpdate(t *testing.T) {
	app := func(t *testing.T, object map[string]any) {
		t.Helper()
		set("spec.authType", "app")(t, object)
		set("spec.appId", "7")(t, object)
		set("spec.installationId", "8")(t, object)
	}
	changes(t, v1beta1.KindGitHubCredential, []change{
		{"OP-33 to app with its ids", nil, app, ""},
		{"OP-33 to app without ids", nil, set("spec.authType", "app"), "spec.appId & appId is required"},
		{"OP-33 to pat with ids", app, set("spec.authType", "pat"), "spec.appId & must not be set"},
		{"OP-33 an id removed", app, without("spec.installationId"), "spec.installationId & is required"},
		{"secretRef removed", nil, without("spec.secretRef"), "secretRef is required"},
		{"another secret", nil, set("spec.secretRef.name", "other"), ""},
		{"spec removed", nil, without("spec"), "spec is required"},
	})
}

func TestImageUpdate(t *testing.T) {
	changes(t, v1beta1.KindImage, []change{
		{"another tag", nil, set("spec.tag", "ubuntu:26.04"), ""},
		{"OP-36 tag removed", nil, without("spec.tag"), "spec.tag is required"},
		{"OP-36 tag emptied", nil, text("spec.tag", ""), "spec.tag"},
	})
}

// stored returns the object as the API server holds it.
func (c *cluster) stored(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), current); err != nil {
		t.Fatalf("get %s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return current
}
