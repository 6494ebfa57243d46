package operator_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// initialise makes the administrator of the server and sets its URLs, as another operator would have.
func (e *env) initialise() {
	e.t.Helper()
	c, err := garmclient.New(garmclient.Config{
		BaseURL: e.ServerURL(), Username: stack.User, Password: garmclient.Password(stack.Password), Email: stack.Email, Init: true,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	url := func(path string) *string { u := e.ServerURL() + path; return &u }
	if _, err := c.UpdateController(e.ctx, garm.UpdateControllerParams{
		MetadataURL: url("/api/v1/metadata"), CallbackURL: url("/api/v1/callbacks"), WebhookURL: url("/webhooks"),
	}); err != nil {
		e.t.Fatal(err)
	}
}

// existing are objects that the server has before the operator starts.
type existing struct {
	credentials  garm.Credentials
	enterprise   garm.Enterprise
	organization garm.Organization
	repository   garm.Repository
	pool         garm.Pool
}

// fill makes one object of each kind at the server, with the names of entities in the case that GitHub shows.
func (e *env) fill() existing {
	e.t.Helper()
	e.initialise()
	check := func(err error) {
		e.t.Helper()
		if err != nil {
			e.t.Fatal(err)
		}
	}
	var all existing
	endpoint := e.Endpoint(stack.EndpointName).Spec
	_, err := e.GARM.CreateEndpoint(e.ctx, garm.CreateEndpointParams{
		Name: stack.EndpointName, Description: endpoint.Description, BaseURL: string(endpoint.BaseURL),
		APIBaseURL: string(endpoint.APIBaseURL), UploadBaseURL: string(endpoint.UploadBaseURL),
	})
	check(err)
	all.credentials, err = e.GARM.CreateCredentials(e.ctx, garm.CreateCredentialsParams{
		Name: stack.Credential, Description: "a token", Endpoint: stack.EndpointName, AuthType: garm.AuthTypePAT, PAT: &garm.PAT{OAuth2Token: "ghp_stack"},
	})
	check(err)
	entity := garm.CreateEntityParams{CredentialsName: stack.Credential, WebhookSecret: "correct-horse-battery"}
	entity.Name = "Octo-Enterprise"
	all.enterprise, err = e.GARM.CreateEnterprise(e.ctx, entity)
	check(err)
	entity.Name = "Octo-Org"
	all.organization, err = e.GARM.CreateOrganization(e.ctx, entity)
	check(err)
	entity.Owner, entity.Name = "Octo-Org", "Road-Map"
	all.repository, err = e.GARM.CreateRepository(e.ctx, entity)
	check(err)
	all.pool, err = e.GARM.CreateOrganizationPool(e.ctx, all.organization.ID, garm.CreatePoolParams{
		ProviderName: "local", MaxRunners: 4, Image: "ubuntu-24.04", Flavor: "small", OSType: "linux", OSArch: "amd64",
		Tags: []string{"linux", "p"}, Enabled: true, RunnerBootstrapTimeout: 20,
	})
	check(err)
	return all
}

// mirrors returns the resources of what fill has made, but for the secrets, the image and the configuration of the server.
func (e *env) mirrors() (*v1beta1.GitHubEndpoint, *v1beta1.GitHubCredential, *v1beta1.Enterprise, *v1beta1.Organization, *v1beta1.Repository, *v1beta1.Pool) {
	org := e.Organization(stack.Org)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: e.namespace, Name: name} }
	return e.Endpoint(stack.EndpointName), e.Credential(stack.Credential, stack.EndpointName, stack.TokenSecret),
		&v1beta1.Enterprise{ObjectMeta: meta("octo-enterprise"), Spec: v1beta1.EnterpriseSpec{
			CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
		}}, org,
		&v1beta1.Repository{ObjectMeta: meta("road-map"), Spec: v1beta1.RepositorySpec{
			Owner: "octo-org", CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
		}}, e.Pool("p")
}

// Resources of the known operator, as its release and its development branch left them, are taken over with the ids they
// have: nothing is created, and conditions that nobody keeps any more go.
func TestTakenOverFromTheKnownOperator(t *testing.T) {
	t.Parallel()
	known := map[string]struct{ secret, credentials, endpoint string }{
		"v0.4.1": {"SecretReference", "CredentialsReference", "EndpointReference"},
		"HEAD":   {v1beta1.ConditionWebhookSecretReference, v1beta1.ConditionGithubCredentialsReference, v1beta1.ConditionGithubEndpointReference},
	}
	for release, types := range known {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
				e := setup(t)
				e.Proxy.Speak(dialect)
				at := e.fill()
				endpoint, credential, enterprise, organization, repository, pool := e.mirrors()
				endpoint.Spec.CACertBundleSecretRef = &v1beta1.SecretRef{} // what its typed updates stored
				base := e.Base()
				e.apply(base[0], base[1], base[2], base[6])
				ofEntity := []string{types.secret, types.credentials, v1beta1.ConditionPoolManager}
				for _, o := range []struct {
					client.Object
					finalizer  string
					conditions []string
					status     func()
				}{
					{endpoint, v1beta1.FinalizerGitHubEndpoint, []string{types.secret}, func() {}},
					{credential, v1beta1.FinalizerGitHubCredential, []string{types.secret, types.endpoint}, func() {
						credential.Status.ID = int64(at.credentials.ID)
						credential.Status.APIBaseURL, credential.Status.BaseURL = "https://old", "https://old"
					}},
					{enterprise, v1beta1.FinalizerEnterprise, ofEntity, func() { enterprise.Status.ID = at.enterprise.ID }},
					{organization, v1beta1.FinalizerOrganization, ofEntity, func() { organization.Status.ID = at.organization.ID }},
					{repository, v1beta1.FinalizerRepository, ofEntity, func() { repository.Status.ID = at.repository.ID }},
					{pool, v1beta1.FinalizerPool, []string{v1beta1.ConditionImageReference, v1beta1.ConditionScopeReference}, func() { pool.Status.ID = at.pool.ID }},
				} {
					o.SetFinalizers([]string{o.finalizer})
					e.apply(o.Object)
					o.status()
					var conditions []metav1.Condition
					for _, kind := range append(o.conditions, v1beta1.ConditionReady) {
						conditions = append(conditions, metav1.Condition{
							Type: kind, Status: metav1.ConditionTrue, Reason: "Successfully", LastTransitionTime: metav1.Now(),
						})
					}
					o.Object.(v1beta1.Conditioned).SetConditions(conditions)
					if err := e.Kube.Status().Update(e.ctx, o.Object); err != nil {
						t.Fatal(err)
					}
				}
				e.run()
				e.ready(endpoint, credential, enterprise, organization, repository, pool)
				counts := e.Proxy.Counts()
				if n := counts.Of("POST", "", 0) - counts.Of("POST", "/auth/login", 0); n > 0 {
					t.Errorf("%d POSTs:\n%s", n, counts)
				}
				if n := counts.Of("DELETE", "", 0); n > 0 {
					t.Errorf("%d DELETEs:\n%s", n, counts)
				}
				if credential.Status.ID != int64(at.credentials.ID) || enterprise.Status.ID != at.enterprise.ID || organization.Status.ID != at.organization.ID ||
					repository.Status.ID != at.repository.ID || pool.Status.ID != at.pool.ID {
					t.Errorf("ids have changed: %v %v %v %v %v", credential.Status, enterprise.Status, organization.Status, repository.Status, pool.Status)
				}
				for _, o := range []v1beta1.Conditioned{endpoint, credential, enterprise, organization, repository, pool} {
					for _, c := range o.GetConditions() {
						if strings.HasPrefix(c.Type, "SecretRef") || strings.HasPrefix(c.Type, "CredentialsRef") || strings.HasPrefix(c.Type, "EndpointRef") {
							t.Errorf("%T still has the condition %s of v0.4.1", o, c.Type)
						}
						if c.ObservedGeneration != o.GetGeneration() {
							t.Errorf("%T: %s speaks of generation %d, not %d", o, c.Type, c.ObservedGeneration, o.GetGeneration())
						}
					}
				}
			})
		})
	}
}

// Resources without an id adopt what the server has under their natural keys, in whatever case; a pool has no natural key.
func TestOP13AdoptedByNaturalKey(t *testing.T) {
	t.Parallel()
	e := setup(t)
	at := e.fill()
	e.run()
	endpoint, credential, enterprise, organization, repository, _ := e.mirrors()
	base := e.Base()
	e.apply(base[0], base[1], base[2], endpoint, credential, enterprise, organization, repository)
	e.ready(endpoint, credential, enterprise, organization, repository)
	if credential.Status.ID != int64(at.credentials.ID) || enterprise.Status.ID != at.enterprise.ID || organization.Status.ID != at.organization.ID ||
		repository.Status.ID != at.repository.ID {
		t.Errorf("not adopted: %v %v %v %v", credential.Status, enterprise.Status, organization.Status, repository.Status)
	}
	counts := e.Proxy.Counts()
	if n := counts.Of("POST", "", 0) - counts.Of("POST", "/auth/login", 0); n > 0 {
		t.Errorf("%d POSTs:\n%s", n, counts)
	}
}
