package operator_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// putsFor counts the PUTs to a template that a change leads to, until the resource is Ready again and check is content.
func putsFor(e *env, template string, obj client.Object, change func(), check func() error) int {
	e.t.Helper()
	before := e.Proxy.Counts()
	change()
	e.ready(obj)
	e.eventually(check)
	return e.Proxy.Counts().Since(before).Of("PUT", template, 0)
}

// OP-5, OP-53: each field that can be changed is sent once and is in force then; what means the same is not sent.
func TestOP5FieldsOfEndpoints(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	endpoint := e.Endpoint(stack.EndpointName)
	base := e.Base()
	e.apply(base[2], endpoint)
	e.ready(endpoint)
	url := string(endpoint.Spec.BaseURL)
	for _, c := range []struct {
		name   string
		change func(*v1beta1.GitHubEndpointSpec)
		field  func(garm.Endpoint) string
		want   string
		puts   int
	}{
		{"description", func(s *v1beta1.GitHubEndpointSpec) { s.Description = "new" }, func(e garm.Endpoint) string { return e.Description }, "new", 1},
		{"base URL", func(s *v1beta1.GitHubEndpointSpec) { s.BaseURL = v1beta1.URL(url + "/web") }, func(e garm.Endpoint) string { return e.BaseURL }, url + "/web", 1},
		{"upload URL", func(s *v1beta1.GitHubEndpointSpec) { s.UploadBaseURL = v1beta1.URL(url + "/up") }, func(e garm.Endpoint) string { return e.UploadBaseURL }, url + "/up", 1},
		{"API URL", func(s *v1beta1.GitHubEndpointSpec) { s.APIBaseURL = v1beta1.URL(url) }, func(e garm.Endpoint) string { return e.APIBaseURL }, url, 1},
		{"slash", func(s *v1beta1.GitHubEndpointSpec) { s.APIBaseURL = v1beta1.URL(url + "/") }, func(e garm.Endpoint) string { return e.APIBaseURL }, url, 0},
		{"left out", func(s *v1beta1.GitHubEndpointSpec) { s.UploadBaseURL = "" }, func(e garm.Endpoint) string { return e.UploadBaseURL }, url + "/up", 0},
	} {
		puts := putsFor(e, "/github/endpoints/{id}", endpoint,
			func() { edit(e, endpoint, func(o *v1beta1.GitHubEndpoint) { c.change(&o.Spec) }) },
			func() error {
				have, err := e.GARM.GetEndpoint(e.ctx, stack.EndpointName)
				if err == nil && c.field(have) != c.want {
					err = fmt.Errorf("the server has %q", c.field(have))
				}
				return err
			})
		if puts != c.puts {
			t.Errorf("%s: %d PUTs, not %d", c.name, puts, c.puts)
		}
	}
}

// OP-53: a credential's description is sent without its secret; what cannot be changed says so and sends nothing.
func TestOP53FieldsOfCredentials(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	other := e.Endpoint("other")
	e.apply(append(base[:5], other)...)
	credential := e.Credential(stack.Credential, stack.EndpointName, stack.TokenSecret)
	e.ready(credential, other)
	puts := putsFor(e, "/github/credentials/{id}", credential,
		func() {
			edit(e, credential, func(o *v1beta1.GitHubCredential) { o.Spec.Description = "new" })
		},
		func() error {
			have, err := e.GARM.GetCredentials(e.ctx, uint(credential.Status.ID))
			if err == nil && have.Description != "new" {
				err = fmt.Errorf("the server has %q", have.Description)
			}
			return err
		})
	if puts != 1 {
		t.Errorf("%d PUTs for a description", puts)
	}
	before := e.Proxy.Counts()
	for _, c := range []struct {
		what string
		to   func(*v1beta1.GitHubCredentialSpec)
		back func(*v1beta1.GitHubCredentialSpec)
	}{
		{
			"endpoint", func(s *v1beta1.GitHubCredentialSpec) { s.EndpointRef.Name = "other" },
			func(s *v1beta1.GitHubCredentialSpec) { s.EndpointRef.Name = stack.EndpointName },
		},
		{
			"auth type",
			func(s *v1beta1.GitHubCredentialSpec) {
				s.AuthType, s.AppID, s.InstallationID = v1beta1.AuthTypeApp, 7, 8
			},
			func(s *v1beta1.GitHubCredentialSpec) {
				s.AuthType, s.AppID, s.InstallationID = v1beta1.AuthTypePAT, 0, 0
			},
		},
	} {
		base := credential.DeepCopy()
		c.to(&credential.Spec)
		if err := e.Kube.Patch(e.ctx, credential, client.MergeFrom(base)); err != nil {
			t.Logf("%s: refused at admission: %v", c.what, err)
			e.ready(credential)
			continue
		}
		e.condition(credential, v1beta1.ConditionStalled, "True", v1beta1.ReasonInvalidSpec)
		edit(e, credential, func(o *v1beta1.GitHubCredential) { c.back(&o.Spec) })
		e.ready(credential)
	}
	if n := e.Proxy.Counts().Since(before).Writes(); n > 0 {
		t.Errorf("%d writes although nothing could be done:\n%s", n, e.Proxy.Counts().Since(before))
	}
}

// OP-5, OP-53: balancer, credential and webhook secret of each entity are sent once.
func TestOP5FieldsOfEntities(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	_, _, enterprise, organization, repository, _ := e.mirrors()
	e.apply(e.Base()...)
	e.apply(enterprise, repository, e.Credential("second", stack.EndpointName, stack.TokenSecret), e.Secret("second", "another-secret-2"))
	e.ready(enterprise, organization, repository, e.Credential("second", "", ""))
	for _, entity := range []struct {
		template string
		obj      client.Object
		edit     func(func(balancer *v1beta1.PoolBalancerType, credential *string, secret *v1beta1.SecretRef))
		get      func() (garm.Entity, error)
	}{
		{
			"/enterprises/{id}", enterprise,
			func(f func(*v1beta1.PoolBalancerType, *string, *v1beta1.SecretRef)) {
				edit(e, enterprise, func(o *v1beta1.Enterprise) {
					f(&o.Spec.PoolBalancerType, &o.Spec.CredentialsRef.Name, &o.Spec.WebhookSecretRef)
				})
			},
			func() (garm.Entity, error) {
				o, err := e.GARM.GetEnterprise(e.ctx, enterprise.Status.ID)
				return o.Entity, err
			},
		},
		{
			"/organizations/{id}", organization,
			func(f func(*v1beta1.PoolBalancerType, *string, *v1beta1.SecretRef)) {
				edit(e, organization, func(o *v1beta1.Organization) {
					f(&o.Spec.PoolBalancerType, &o.Spec.CredentialsRef.Name, &o.Spec.WebhookSecretRef)
				})
			},
			func() (garm.Entity, error) {
				o, err := e.GARM.GetOrganization(e.ctx, organization.Status.ID)
				return o.Entity, err
			},
		},
		{
			"/repositories/{id}", repository,
			func(f func(*v1beta1.PoolBalancerType, *string, *v1beta1.SecretRef)) {
				edit(e, repository, func(o *v1beta1.Repository) {
					f(&o.Spec.PoolBalancerType, &o.Spec.CredentialsRef.Name, &o.Spec.WebhookSecretRef)
				})
			},
			func() (garm.Entity, error) {
				o, err := e.GARM.GetRepository(e.ctx, repository.Status.ID)
				return o.Entity, err
			},
		},
	} {
		for _, c := range []struct {
			name   string
			change func(balancer *v1beta1.PoolBalancerType, credential *string, secret *v1beta1.SecretRef)
			ok     func(garm.Entity) bool
			puts   int
		}{
			{"balancer", func(b *v1beta1.PoolBalancerType, _ *string, _ *v1beta1.SecretRef) { *b = garm.BalancerPack }, func(o garm.Entity) bool { return o.PoolBalancerType == garm.BalancerPack }, 1},
			{"credential", func(_ *v1beta1.PoolBalancerType, c *string, _ *v1beta1.SecretRef) { *c = "second" }, func(o garm.Entity) bool { return o.CredentialsName == "second" }, 1},
			{"secret", func(_ *v1beta1.PoolBalancerType, _ *string, s *v1beta1.SecretRef) { s.Name = "second" }, func(garm.Entity) bool { return true }, 1},
			{"no balancer", func(b *v1beta1.PoolBalancerType, _ *string, _ *v1beta1.SecretRef) { *b = "" }, func(o garm.Entity) bool { return o.PoolBalancerType == garm.BalancerPack }, 0},
		} {
			puts := putsFor(e, entity.template, entity.obj, func() { entity.edit(c.change) }, func() error {
				have, err := entity.get()
				if err == nil && !c.ok(have) {
					err = fmt.Errorf("the server has %+v", have)
				}
				return err
			})
			if puts != c.puts {
				t.Errorf("%s %s: %d PUTs, not %d", entity.template, c.name, puts, c.puts)
			}
		}
	}
}

// OP-62: a GarmServerConfig sends each URL once, leaves alone what it does not give, and changes nothing when it goes. An event
// tells of a URL that does not lead to where the server listens.
func TestFieldsOfServerConfig(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	config := e.Base()[2].(*v1beta1.GarmServerConfig)
	e.apply(config)
	e.ready(config)
	for _, c := range []struct {
		name   string
		change func(*v1beta1.GarmServerConfigSpec)
		field  func(garm.ControllerInfo) string
		want   string
		puts   int
	}{
		{"metadata", func(s *v1beta1.GarmServerConfigSpec) { s.MetadataURL = "https://a.example/api/v1/metadata" }, func(i garm.ControllerInfo) string { return i.MetadataURL }, "https://a.example/api/v1/metadata", 1},
		{"callback", func(s *v1beta1.GarmServerConfigSpec) { s.CallbackURL = "https://a.example/api/v1/callbacks" }, func(i garm.ControllerInfo) string { return i.CallbackURL }, "https://a.example/api/v1/callbacks", 1},
		{"webhook", func(s *v1beta1.GarmServerConfigSpec) { s.WebhookURL = "https://a.example/webhooks" }, func(i garm.ControllerInfo) string { return i.WebhookURL }, "https://a.example/webhooks", 1},
		{"webhook of old samples", func(s *v1beta1.GarmServerConfigSpec) { s.WebhookURL = "https://a.example/webhook" }, func(i garm.ControllerInfo) string { return i.WebhookURL }, "https://a.example/webhook", 1},
		{"left out", func(s *v1beta1.GarmServerConfigSpec) { s.MetadataURL = "" }, func(i garm.ControllerInfo) string { return i.MetadataURL }, "https://a.example/api/v1/metadata", 0},
	} {
		puts := putsFor(e, "/controller", config,
			func() { edit(e, config, func(o *v1beta1.GarmServerConfig) { c.change(&o.Spec) }) },
			func() error {
				have, err := e.GARM.GetController(e.ctx)
				if err == nil && c.field(have) != c.want {
					err = fmt.Errorf("the server has %+v", have)
				}
				return err
			})
		if puts != c.puts {
			t.Errorf("%s: %d PUTs, not %d", c.name, puts, c.puts)
		}
	}
	e.told(config, corev1.EventTypeWarning, "UnusualURL", "spec.webhookUrl does not end in /webhooks")
	before := e.Proxy.Counts()
	e.delete(config)
	e.gone(config)
	if n := e.Proxy.Counts().Since(before).Writes(); n > 0 {
		t.Errorf("%d writes for a configuration that went", n)
	}
}

// A login in a URL at the server, such as its own configuration may hold, works on there and shows in no resource.
func TestLoginInURLIsNotShown(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.initialise()
	withLogin := func(url string) *string {
		url = strings.Replace(url, "://", "://user:hunter2@", 1)
		return &url
	}
	if _, err := e.GARM.UpdateController(e.ctx, garm.UpdateControllerParams{
		WebhookURL: withLogin(e.ServerURL() + "/webhooks"), CallbackURL: withLogin(e.ServerURL() + "/api/v1/callbacks"),
	}); err != nil {
		t.Fatal(err)
	}
	e.run()
	base := e.Base()
	config, endpoint, credential := base[2].(*v1beta1.GarmServerConfig), base[3].(*v1beta1.GitHubEndpoint), base[4].(*v1beta1.GitHubCredential)
	config.Spec = v1beta1.GarmServerConfigSpec{}
	endpoint.Spec.APIBaseURL = v1beta1.URL(*withLogin(string(endpoint.Spec.APIBaseURL)))
	org := e.Organization(stack.Org)
	org.Spec.Webhook = &v1beta1.WebhookSpec{Install: true}
	e.apply(base[0], base[1], config, endpoint, credential, org)
	e.ready(config, endpoint, credential)
	e.condition(org, v1beta1.ConditionWebhook, "False", v1beta1.ReasonWebhookFailed)
	c := status.Find(org, v1beta1.ConditionWebhook)
	if !strings.Contains(c.Message, "spec.webhookUrl") {
		t.Errorf("the condition says %q", c.Message)
	}
	if config.Status.WebhookURL == "" || config.Status.ControllerWebhookURL == "" || credential.Status.APIBaseURL == "" {
		t.Errorf("the URLs are not shown: %+v, %+v", config.Status, credential.Status)
	}
	for _, o := range []any{config, credential, org} {
		if text, err := json.Marshal(o); err != nil || strings.Contains(string(text), "hunter2") {
			t.Errorf("%s (%v)", text, err)
		}
	}
}
