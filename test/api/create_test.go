package api_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// creation is one object to create: want is empty when it has to be accepted, else what the error has to say.
type creation struct {
	name string
	edit edit
	want string
}

// check tries every creation as a dry run, which validates like a real one and stores nothing.
func check(t *testing.T, kind string, creations []creation) {
	t.Helper()
	c := connect(t)
	for _, tc := range append([]creation{{"the smallest valid object", func(*testing.T, map[string]any) {}, ""}}, creations...) {
		t.Run(tc.name, func(t *testing.T) {
			object := c.manifest(t, kind, "sample", tc.edit)
			judge(t, object, c.Create(t.Context(), object, client.DryRunAll), tc.want)
		})
	}
}

func TestPoolCreate(t *testing.T) {
	check(t, v1beta1.KindPool, []creation{
		{"scope Enterprise", set("spec.githubScopeRef.kind", "Enterprise"), ""},
		{"scope Repository", set("spec.githubScopeRef.kind", "Repository"), ""},
		{"scope of an unknown kind", set("spec.githubScopeRef.kind", "Team"), "spec.githubScopeRef.kind & Enterprise, Organization or Repository"},
		{"scope without a name", text("spec.githubScopeRef.name", ""), "spec.githubScopeRef.name"},
		{"scope with any apiGroup", set("spec.githubScopeRef.apiGroup", "example.com"), ""},
		{"no scope", without("spec.githubScopeRef"), "spec.githubScopeRef: Required"},

		{"OP-28 one runner", set("spec.maxRunners", "1"), ""},
		{"OP-28 max 0", set("spec.maxRunners", "0"), "spec.maxRunners"},
		{"OP-28 max negative", set("spec.maxRunners", "-1"), "spec.maxRunners"},
		{"OP-28 min equals max", set("spec.minIdleRunners", "4"), ""},
		{"OP-28 min above max", set("spec.minIdleRunners", "5"), "spec.minIdleRunners & must not exceed maxRunners"},
		{"OP-28 min negative", set("spec.minIdleRunners", "-1"), "spec.minIdleRunners"},

		{"OP-27 extraSpecs absent", without("spec.extraSpecs"), ""},
		{"OP-27 extraSpecs empty", text("spec.extraSpecs", ""), ""},
		{"OP-27 extraSpecs {}", text("spec.extraSpecs", "{}"), ""},
		{"OP-27 extraSpecs [1]", text("spec.extraSpecs", "[1]"), ""},
		{"OP-27 extraSpecs {bad", text("spec.extraSpecs", "{bad"), "spec.extraSpecs & JSON"},
		{"extraSpecs null", text("spec.extraSpecs", "null"), ""},
		{"extraSpecs true", text("spec.extraSpecs", "true"), ""},
		{"extraSpecs a JSON string", text("spec.extraSpecs", `"x"`), ""},
		{"extraSpecs over lines with blanks around", text("spec.extraSpecs", "\n {\n  \"a\": {\"b\": [1, 2]}\n}\n"), ""},
		{"extraSpecs as large as a cloud-init file", text("spec.extraSpecs", `{"user_data": "`+strings.Repeat("x", 500_000)+`"}`), ""},
		{"extraSpecs a bare number", text("spec.extraSpecs", "7"), "spec.extraSpecs & bare number"},
		{"extraSpecs a bare fraction", text("spec.extraSpecs", " -1.5e3 "), "spec.extraSpecs & bare number"},
		{"extraSpecs plain text", text("spec.extraSpecs", "disk=40"), "spec.extraSpecs & JSON"},
		{"extraSpecs YAML", text("spec.extraSpecs", "disk:\n  size: 40"), "spec.extraSpecs & JSON"},
		{"extraSpecs null with more", text("spec.extraSpecs", "nullnull"), "spec.extraSpecs & JSON"},
		{"extraSpecs blanks only", text("spec.extraSpecs", "  "), "spec.extraSpecs & JSON"},
		{"extraSpecs too large", text("spec.extraSpecs", `"`+strings.Repeat("x", 1<<20)+`"`), "spec.extraSpecs: Too long"},

		{"osType windows", set("spec.osType", "windows"), ""},
		{"osType unknown", set("spec.osType", "macos"), "spec.osType & windows"},
		{"osType in upper case", set("spec.osType", "Linux"), "spec.osType & linux"},
		{"osArch arm64", set("spec.osArch", "arm64"), ""},
		{"osArch arm", set("spec.osArch", "arm"), ""},
		{"osArch x86_64", set("spec.osArch", "x86_64"), ""},
		{"osArch x64", set("spec.osArch", "x64"), ""},
		{"osArch aarch64", set("spec.osArch", "aarch64"), ""},
		{"osArch armv7l", set("spec.osArch", "armv7l"), ""},
		{"osArch i386", set("spec.osArch", "i386"), "spec.osArch & amd64"},

		{"OP-36 no image name", text("spec.imageName", ""), "spec.imageName"},
		{"OP-36 image name left out", without("spec.imageName"), "spec.imageName: Required"},
		{"no provider", text("spec.providerName", ""), "spec.providerName"},
		{"no flavor", text("spec.flavor", ""), "spec.flavor"},
		{"no tags", set("spec.tags", "[]"), "spec.tags"},
		{"tags left out", without("spec.tags"), "spec.tags: Required"},
		{"an empty tag", set("spec.tags", `[linux, ""]`), "spec.tags[1]"},
		{"a tag of 70 characters", set("spec.tags", "["+strings.Repeat("x", 70)+"]"), ""},
		{"a tag twice", set("spec.tags", "[linux, linux]"), ""},
		{"a hundred tags", set("spec.tags", "["+strings.Repeat("linux, ", 99)+"linux]"), ""},
		{"priority 0", set("spec.priority", "0"), ""},
		{"priority 100", set("spec.priority", "100"), ""},
		{"priority as high as servers store", set("spec.priority", "2147483647"), ""},
		{"priority higher", set("spec.priority", "2147483648"), "spec.priority & less than or equal to"},
		{"priority negative", set("spec.priority", "-1"), "spec.priority & greater than or equal to 0"},
		{"outdated runners rotated", set("spec.rotateOutdatedRunners", "true"), ""},
		{"bootstrap timeout 1", set("spec.runnerBootstrapTimeout", "1"), ""},
		{"bootstrap timeout 0", set("spec.runnerBootstrapTimeout", "0"), "spec.runnerBootstrapTimeout"},
		{"bootstrap timeout of two years", set("spec.runnerBootstrapTimeout", "1048576"), ""},
		{"bootstrap timeout longer", set("spec.runnerBootstrapTimeout", "1048577"), "spec.runnerBootstrapTimeout & less than or equal to"},
		{"more runners than an integer holds", set("spec.maxRunners", "9223372036854775808"), "spec.maxRunners & int64"},
		{"half a runner", set("spec.maxRunners", "1.5"), "spec.maxRunners & int64"},
		{"maxRunners as text", text("spec.maxRunners", "4"), "spec.maxRunners & integer"},
		{"tags null", set("spec.tags", "null"), "spec.tags: Required"},
		{"extraSpecs as an object", set("spec.extraSpecs", "{a: 1}"), "spec.extraSpecs & string"},
		{"extraSpecs null without quotes", set("spec.extraSpecs", "null"), ""},
		{"tags of other scripts, with blanks and signs", set("spec.tags", `[日本, "with blanks", "a,b", "größe=1"]`), ""},
		{"bootstrap timeout negative", set("spec.runnerBootstrapTimeout", "-20"), "spec.runnerBootstrapTimeout"},
		{"prefix and group empty", func(t *testing.T, object map[string]any) {
			t.Helper()
			text("spec.runnerPrefix", "")(t, object)
			text("spec.githubRunnerGroup", "")(t, object)
		}, ""},
		{"no spec", without("spec"), "spec is required"},
	})
}

func TestImageCreate(t *testing.T) {
	check(t, v1beta1.KindImage, []creation{
		{"OP-36 tag of any shape", text("spec.tag", "projects/x/images/y family:z@2"), ""},
		{"OP-36 empty tag", text("spec.tag", ""), "spec.tag"},
		{"OP-36 no tag", without("spec.tag"), "spec.tag is required"},
		{"OP-36 no spec", without("spec"), "spec.tag is required"},
	})
}

func TestEntityCreate(t *testing.T) {
	for _, kind := range []string{v1beta1.KindEnterprise, v1beta1.KindOrganization, v1beta1.KindRepository} {
		t.Run(kind, func(t *testing.T) {
			check(t, kind, []creation{
				{"OP-31 roundrobin", set("spec.poolBalancerType", "roundrobin"), ""},
				{"OP-31 pack", set("spec.poolBalancerType", "pack"), ""},
				{"OP-31 empty", text("spec.poolBalancerType", ""), ""},
				{"OP-31 stack", set("spec.poolBalancerType", "stack"), "spec.poolBalancerType & roundrobin"},
				{"credentialsRef of any kind and group", set("spec.credentialsRef", "{apiGroup: example.com, kind: GitHubCredentials, name: github}"), ""},
				{"credentialsRef without a name", text("spec.credentialsRef.name", ""), "spec.credentialsRef.name"},
				{"credentialsRef left out", without("spec.credentialsRef"), "spec.credentialsRef: Required"},
				{"webhookSecretRef without a name", text("spec.webhookSecretRef.name", ""), "spec.webhookSecretRef & name of a Secret"},
				{"webhookSecretRef without a key", text("spec.webhookSecretRef.key", ""), "spec.webhookSecretRef & a key"},
				{"webhookSecretRef null", set("spec.webhookSecretRef", "null"), "spec.webhookSecretRef: Required"},
				{"webhookSecretRef left out", without("spec.webhookSecretRef"), "spec.webhookSecretRef: Required"},
				{"OP-13 a name that Kubernetes does not allow", set("spec.name", "My_Repo.js"), ""},
				{"OP-13 a name with a leading dot", set("spec.name", ".github"), ""},
				{"OP-13 a name of 100 characters", set("spec.name", strings.Repeat("x", 100)), ""},
				{"OP-13 a name of 101 characters", set("spec.name", strings.Repeat("x", 101)), "spec.name: Too long"},
				{"OP-13 a name in another script", set("spec.name", "größe"), "spec.name & should match"},
				{"OP-13 a name with a line's end", text("spec.name", "app\n"), "spec.name & should match"},
				{"OP-13 a null name is none", set("spec.name", "null"), ""},
				{"OP-13 an empty name", text("spec.name", ""), "spec.name"},
				{"OP-13 owner and name in one", set("spec.name", "octo-org/app"), "spec.name"},
				{"a dot in the name of the resource", set("metadata.name", "app.js"), ""},
				{"no spec", without("spec"), "spec is required"},
			})
		})
	}
}

func TestWebhookCreate(t *testing.T) {
	for _, kind := range []string{v1beta1.KindOrganization, v1beta1.KindRepository} {
		t.Run(kind, func(t *testing.T) {
			check(t, kind, []creation{
				{"left out", without("spec.webhook"), ""},
				{"installed", set("spec.webhook", "{install: true}"), ""},
				{"removed", set("spec.webhook", "{install: false}"), ""},
				{"neither", set("spec.webhook", "{}"), "spec.webhook.install: Required"},
				{"insecure", set("spec.webhook", "{install: true, insecureSSL: true}"), ""},
				{"removed and insecure", set("spec.webhook", "{install: false, insecureSSL: true}"), "spec.webhook.insecureSSL & only together with install"},
			})
		})
	}
}

func TestRepositoryOwner(t *testing.T) {
	check(t, v1beta1.KindRepository, []creation{
		{"upper case", set("spec.owner", "ACME"), ""},
		{"a managed user", set("spec.owner", "octo-cat_acme"), ""},
		{"owner and name in one", set("spec.owner", "octo-org/app"), "spec.owner & should match"},
		{"in another script", set("spec.owner", "größe"), "spec.owner & should match"},
		{"with a line's end", text("spec.owner", "octo-org\n"), "spec.owner & should match"},
		{"of 101 characters", set("spec.owner", strings.Repeat("x", 101)), "spec.owner: Too long"},
		{"empty", text("spec.owner", ""), "spec.owner"},
		{"left out", without("spec.owner"), "spec.owner: Required"},
	})
}

func TestCredentialCreate(t *testing.T) {
	both := func(edits ...edit) edit {
		return func(t *testing.T, object map[string]any) {
			t.Helper()
			for _, apply := range edits {
				apply(t, object)
			}
		}
	}
	app, appID, installation := set("spec.authType", "app"), set("spec.appId", "7"), set("spec.installationId", "8")
	check(t, v1beta1.KindGitHubCredential, []creation{
		{"OP-33 app with its ids", both(app, appID, installation), ""},
		{"OP-33 app without appId", both(app, installation), "spec.appId & appId is required"},
		{"OP-33 app with appId 0", both(app, set("spec.appId", "0"), installation), "spec.appId & appId is required"},
		{"OP-33 app without installationId", both(app, appID), "spec.installationId & installationId is required"},
		{"OP-33 pat with appId", appID, "spec.appId & must not be set"},
		{"OP-33 pat with installationId", installation, "spec.installationId & must not be set"},
		{"OP-33 pat with ids of 0", both(set("spec.appId", "0"), set("spec.installationId", "0")), ""},
		{"negative appId", both(app, set("spec.appId", "-7"), installation), "spec.appId"},
		{"negative installationId", both(app, appID, set("spec.installationId", "-8")), "spec.installationId & greater than or equal to 0"},
		{"authType unknown", set("spec.authType", "oauth"), "spec.authType & pat"},
		{"authType in upper case", set("spec.authType", "PAT"), "spec.authType & pat"},
		{"secretRef left out", without("spec.secretRef"), "spec.secretRef & secretRef is required"},
		{"secretRef empty", set("spec.secretRef", `{name: "", key: ""}`), "spec.secretRef & name of a Secret"},
		{"description empty", text("spec.description", ""), ""},
		{"description left out", without("spec.description"), "spec.description: Required"},
		{"endpointRef of any kind and group", set("spec.endpointRef", "{apiGroup: x, kind: Endpoint, name: github.com}"), ""},
		{"endpointRef without a name", text("spec.endpointRef.name", ""), "spec.endpointRef.name"},
		{"no spec", without("spec"), "spec is required"},
	})
}

func TestEndpointCreate(t *testing.T) {
	creations := []creation{
		{"OP-32 named github.com", set("metadata.name", "github.com"), ""},
		{"no spec", without("spec"), ""},
		{"OP-54 a CA bundle", set("spec.caCertBundleSecretRef", "{name: ca, key: ca.pem}"), ""},
		{"an empty CA reference", set("spec.caCertBundleSecretRef", `{name: "", key: ""}`), ""},
		{"a CA reference without a key", set("spec.caCertBundleSecretRef", `{name: ca, key: ""}`), "spec.caCertBundleSecretRef & both"},
	}
	for _, field := range []string{"spec.apiBaseUrl", "spec.uploadBaseUrl", "spec.baseUrl"} {
		creations = append(creations, urls(field)...)
	}
	creations = append(creations, creation{"a login, which servers ignore", text("spec.apiBaseUrl", "https://user:hunter2@ghe.example.com"), ""})
	check(t, v1beta1.KindGitHubEndpoint, creations)
}

func TestServerConfigCreate(t *testing.T) {
	creations := []creation{
		{"no spec", without("spec"), ""},
		{"OP-62 the path of old samples", set("spec.webhookUrl", "http://garm.example.com:9997/webhook"), ""},
		{"OP-62 the path that works", set("spec.webhookUrl", "http://garm.example.com:9997/webhooks"), ""},
	}
	for _, field := range []string{"spec.metadataUrl", "spec.callbackUrl", "spec.webhookUrl"} {
		creations = append(creations, urls(field)...)
		for _, login := range []string{"user:hunter2", "hunter2", ":hunter2", "user:hunter2@x"} {
			creations = append(creations, creation{field + " with the login " + login, text(field, "https://"+login+"@garm.example.com/a"), field + " & must not hold a user or password"})
		}
		creations = append(creations, creation{field + " with @ in the path", text(field, "https://garm.example.com/a@b?c=d@e"), ""})
	}
	check(t, v1beta1.KindGarmServerConfig, creations)
}

func urls(field string) []creation {
	long := "https://ghe.example.com/" + strings.Repeat("x", 2048)
	return []creation{
		{field + " https", text(field, "https://ghe.example.com/api/v3"), ""},
		{field + " http with port and trailing slash", text(field, "http://garm.svc:9997/"), ""},
		{field + " IPv6", text(field, "https://[2001:db8::1]:8443"), ""},
		{field + " empty", text(field, ""), ""},
		{field + " of 2048 characters", text(field, long[:2048]), ""},
		{field + " of 2049 characters", text(field, long[:2049]), field + ": Too long"},
		{field + " without scheme", text(field, "ghe.example.com"), field + " & scheme http or https"},
		{field + " with another scheme", text(field, "ftp://ghe.example.com"), field + " & scheme http or https"},
		{field + " without host", text(field, "https:///api"), field + " & a host"},
		{field + " with a port only", text(field, "https://:8443/api"), field + " & a host"},
		{field + " with blanks", text(field, "https://ghe example.com"), field + " & must be a URL"},
	}
}

func TestDeletionPolicyCreate(t *testing.T) {
	for _, kind := range []string{
		v1beta1.KindEnterprise, v1beta1.KindOrganization, v1beta1.KindRepository, v1beta1.KindPool, v1beta1.KindGitHubEndpoint, v1beta1.KindGitHubCredential,
	} {
		t.Run(kind, func(t *testing.T) {
			check(t, kind, []creation{
				{"Delete", set("spec.deletionPolicy", "Delete"), ""},
				{"Orphan", set("spec.deletionPolicy", "Orphan"), ""},
				{"another one", set("spec.deletionPolicy", "Retain"), "spec.deletionPolicy & Orphan"},
				{"empty", text("spec.deletionPolicy", ""), "spec.deletionPolicy & Orphan"},
			})
		})
	}
}
