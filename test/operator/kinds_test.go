package operator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// each is one resource of each kind that the server mirrors.
type each struct {
	endpoint     *v1beta1.GitHubEndpoint
	credential   *v1beta1.GitHubCredential
	enterprise   *v1beta1.Enterprise
	organization *v1beta1.Organization
	repository   *v1beta1.Repository
	pool         *v1beta1.Pool
}

func (k *each) objects() []client.Object {
	return []client.Object{k.endpoint, k.credential, k.enterprise, k.organization, k.repository, k.pool}
}

// kinds returns resources that are not applied yet.
func (e *env) kinds() *each {
	k := &each{}
	k.endpoint, k.credential, k.enterprise, k.organization, k.repository, k.pool = e.mirrors()
	return k
}

// readyKinds applies what kinds returns, with all that they need, and waits until they are Ready.
func (e *env) readyKinds() *each {
	e.t.Helper()
	k := &each{}
	k.endpoint, k.credential, k.enterprise, k.organization, k.repository, k.pool = e.oneOfEach()
	return k
}

// ids returns the ids that servers draw at random, and those of controllers.
func (k *each) ids() map[string]string {
	return map[string]string{
		"enterprise": k.enterprise.Status.ID, "organization": k.organization.Status.ID, "repository": k.repository.Status.ID, "pool": k.pool.Status.ID,
		"endpoint's controller": k.endpoint.Status.ControllerID, "credential's controller": k.credential.Status.ControllerID,
		"enterprise's controller": k.enterprise.Status.ControllerID, "organization's controller": k.organization.Status.ControllerID,
		"repository's controller": k.repository.Status.ControllerID, "pool's controller": k.pool.Status.ControllerID,
	}
}

// tells waits until a condition of each resource is False and has a text in its message.
func (e *env) tells(kind, text string, objects ...client.Object) {
	e.t.Helper()
	for _, o := range objects {
		e.eventually(func() error {
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			for _, c := range o.(v1beta1.Conditioned).GetConditions() {
				if c.Type == kind && c.Status == metav1.ConditionFalse && strings.Contains(c.Message, text) && c.ObservedGeneration == o.GetGeneration() {
					return nil
				}
			}
			return fmt.Errorf("%T does not tell %q: %+v", o, text, o.(v1beta1.Conditioned).GetConditions())
		})
	}
}

// OP-8: whatever is missing has a condition of its own that names it, for each kind; when it comes, everything goes on.
func TestOP8MissingReferences(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.run()
	k, base := e.kinds(), e.Base()
	k.endpoint.Spec.CACertBundleSecretRef = &v1beta1.SecretRef{Name: "ca", Key: stack.SecretKey}
	entities := []client.Object{k.enterprise, k.organization, k.repository}
	hooked := append(slices.Clone(entities), k.credential, k.endpoint)
	e.apply(base[2], k.pool)
	e.condition(k.pool, v1beta1.ConditionScopeReference, "False", v1beta1.ReasonFetchingScopeRefFailed)
	e.condition(k.pool, v1beta1.ConditionReady, "False", v1beta1.ReasonFetchingScopeRefFailed)
	e.tells(v1beta1.ConditionScopeReference, stack.Org, k.pool)
	e.apply(entities...)
	e.condition(k.pool, v1beta1.ConditionScopeReference, "False", v1beta1.ReasonScopeRefNotReady)
	e.condition(k.pool, v1beta1.ConditionImageReference, "False", v1beta1.ReasonFetchingImageRefFailed)
	e.tells(v1beta1.ConditionImageReference, stack.ImageName, k.pool)
	for _, o := range entities {
		e.condition(o, v1beta1.ConditionGithubCredentialsReference, "False", v1beta1.ReasonGithubCredentialsRefFailed)
	}
	e.tells(v1beta1.ConditionGithubCredentialsReference, stack.Credential, entities...)
	e.apply(k.credential)
	e.condition(k.credential, v1beta1.ConditionGithubEndpointReference, "False", v1beta1.ReasonFetchingGithubEndpointRefFailed)
	e.tells(v1beta1.ConditionGithubEndpointReference, stack.EndpointName, k.credential)
	e.apply(k.endpoint)
	for _, o := range hooked {
		e.condition(o, v1beta1.ConditionWebhookSecretReference, "False", v1beta1.ReasonFetchingWebhookSecretRefFailed)
	}
	e.condition(k.endpoint, v1beta1.ConditionReady, "False", v1beta1.ReasonFetchingWebhookSecretRefFailed)
	e.condition(k.credential, v1beta1.ConditionReady, "False", v1beta1.ReasonFetchingGithubEndpointRefFailed)
	secrets := map[string]string{stack.TokenSecret: "ghp_x", stack.WebhookSecret: "hook-secret-1", "ca": ""}
	for name := range secrets {
		s := e.Secret(name, "")
		s.StringData = map[string]string{"other": "x"}
		e.apply(s)
	}
	e.tells(v1beta1.ConditionWebhookSecretReference, "has no key "+fmt.Sprintf("%q", stack.SecretKey), hooked...)
	for name := range secrets {
		edit(e, e.Secret(name, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte(" \n") })
	}
	e.tells(v1beta1.ConditionWebhookSecretReference, "is empty", hooked...)
	if n := e.Proxy.Counts().Of("POST", "", 0) - e.Proxy.Counts().Of("POST", "/auth/login", 0) - e.Proxy.Counts().Of("POST", "/first-run", 0); n > 0 {
		t.Errorf("%d POSTs although everything was missing:\n%s", n, e.Proxy.Counts())
	}
	edit(e, k.endpoint, func(o *v1beta1.GitHubEndpoint) { o.Spec.CACertBundleSecretRef = nil })
	for name, value := range secrets {
		edit(e, e.Secret(name, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte(value) })
	}
	e.apply(e.Image(stack.ImageName, "tag"))
	e.ready(k.objects()...)
}

// OP-12: a paused resource of any kind says so, is left alone whatever is changed or deleted, and goes on when it is not paused
// any more.
func TestOP12EveryKindPaused(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	k := e.readyKinds()
	config := e.Base()[2].(*v1beta1.GarmServerConfig)
	pause := func(value string, objects ...client.Object) {
		for _, o := range objects {
			edit(e, o, func(o client.Object) { o.SetAnnotations(withAnnotation(o, v1beta1.AnnotationPaused, value)) })
		}
	}
	all := append(k.objects(), config)
	pause("", all...)
	for _, o := range all {
		e.condition(o, v1beta1.ConditionPaused, "True", v1beta1.ReasonPaused)
	}
	before := e.Proxy.Counts()
	edit(e, k.endpoint, func(o *v1beta1.GitHubEndpoint) { o.Spec.Description = "paused" })
	edit(e, k.credential, func(o *v1beta1.GitHubCredential) { o.Spec.Description = "paused" })
	edit(e, k.enterprise, func(o *v1beta1.Enterprise) { o.Spec.PoolBalancerType = garm.BalancerPack })
	edit(e, k.organization, func(o *v1beta1.Organization) { o.Spec.PoolBalancerType = garm.BalancerPack })
	edit(e, k.repository, func(o *v1beta1.Repository) { o.Spec.PoolBalancerType = garm.BalancerPack })
	edit(e, k.pool, func(o *v1beta1.Pool) { o.Spec.MaxRunners = 7 })
	edit(e, config, func(o *v1beta1.GarmServerConfig) { o.Spec.WebhookURL = "https://paused.example.com/webhooks" })
	edit(e, e.Secret(stack.WebhookSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("a-new-webhook-secret") })
	for _, o := range all {
		e.condition(o, v1beta1.ConditionPaused, "True", v1beta1.ReasonPaused) // of the new generation
	}
	if n := e.Proxy.Counts().Since(before).Writes(); n > 0 {
		t.Errorf("%d writes for paused resources:\n%s", n, e.Proxy.Counts().Since(before))
	}
	pause("False", k.organization)
	e.ready(k.organization)
	if n := e.Proxy.Counts().Since(before).Of("PUT", "/organizations/{id}", 200); n != 1 {
		t.Errorf("%d PUTs of what is not paused any more:\n%s", n, e.Proxy.Counts().Since(before))
	}
	pause("yes", k.organization)
	e.condition(k.organization, v1beta1.ConditionPaused, "True", v1beta1.ReasonPaused)
	before = e.Proxy.Counts()
	for _, o := range shuffled(t, all) {
		e.delete(o)
	}
	e.gone(all...)
	if n := e.Proxy.Counts().Since(before).Writes(); n > 0 || len(e.pools()) != 1 {
		t.Errorf("%d writes for paused resources that were deleted, %d pools:\n%s", n, len(e.pools()), e.Proxy.Counts().Since(before))
	}
}

func withAnnotation(o client.Object, key, value string) map[string]string {
	annotations := map[string]string{key: value}
	for k, v := range o.GetAnnotations() {
		if k != key {
			annotations[k] = v
		}
	}
	return annotations
}

// OP-14: resources of every kind come back after the server has lost its database, and no id of the lost one is left.
func TestOP14LostDatabase(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
		e := setup(t)
		e.Proxy.Speak(dialect)
		e.run()
		k := e.readyKinds()
		config := e.Base()[2].(*v1beta1.GarmServerConfig)
		e.ready(config)
		old := k.ids()
		if err := e.LoseDatabase(); err != nil {
			t.Fatal(err)
		}
		if err := e.StartGARM(e.ctx); err != nil {
			t.Fatal(err)
		}
		all := append(k.objects(), config)
		e.eventually(func() error {
			for _, o := range all {
				if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o); err != nil {
					return err
				}
			}
			for kind, id := range k.ids() {
				if old[kind] == id {
					return fmt.Errorf("the %s still has the id %s of the lost database", kind, id)
				}
			}
			return nil
		})
		e.ready(all...)
		credential, err1 := e.GARM.GetCredentials(e.ctx, uint(k.credential.Status.ID))
		enterprise, err2 := e.GARM.GetEnterprise(e.ctx, k.enterprise.Status.ID)
		organization, err3 := e.GARM.GetOrganization(e.ctx, k.organization.Status.ID)
		repository, err4 := e.GARM.GetRepository(e.ctx, k.repository.Status.ID)
		if err := errors.Join(err1, err2, err3, err4); err != nil || credential.Name != stack.Credential {
			t.Errorf("the server has %+v %+v %+v %+v, %v", credential, enterprise, organization, repository, err)
		}
		if pools := e.pools(); len(pools) != 1 || pools[0].ID != k.pool.Status.ID {
			t.Errorf("the server has %d pools, the status says %s", len(pools), k.pool.Status.ID)
		}
	})
}

// OP-15: one name at two endpoints are two objects, for organizations, enterprises and repositories; deleting one leaves the
// other.
func TestOP15OneNameAtTwoEndpoints(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	k := e.readyKinds()
	e.apply(e.Endpoint("other"), e.Credential("elsewhere", "other", stack.TokenSecret))
	enterprise, organization, repository := k.enterprise.DeepCopy(), k.organization.DeepCopy(), k.repository.DeepCopy()
	for _, o := range []client.Object{enterprise, organization, repository} {
		meta := metav1.ObjectMeta{Namespace: e.namespace, Name: "elsewhere"}
		switch o := o.(type) {
		case *v1beta1.Enterprise:
			o.ObjectMeta, o.Spec.Name, o.Spec.CredentialsRef.Name = meta, strings.ToUpper(o.Name), "elsewhere"
		case *v1beta1.Organization:
			o.ObjectMeta, o.Spec.Name, o.Spec.CredentialsRef.Name = meta, strings.ToUpper(o.Name), "elsewhere"
		case *v1beta1.Repository:
			o.ObjectMeta, o.Spec.Name, o.Spec.CredentialsRef.Name = meta, strings.ToUpper(o.Name), "elsewhere"
		}
	}
	there := []client.Object{enterprise, organization, repository}
	e.apply(there...)
	e.ready(there...)
	if enterprise.Status.ID == k.enterprise.Status.ID || organization.Status.ID == k.organization.Status.ID || repository.Status.ID == k.repository.Status.ID {
		t.Errorf("one id for two: %v %v %v", enterprise.Status, organization.Status, repository.Status)
	}
	for _, o := range there {
		e.delete(o)
	}
	e.gone(there...)
	e.ready(k.objects()...)
	_, err1 := e.GARM.GetEnterprise(e.ctx, k.enterprise.Status.ID)
	_, err2 := e.GARM.GetOrganization(e.ctx, k.organization.Status.ID)
	_, err3 := e.GARM.GetRepository(e.ctx, k.repository.Status.ID)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Errorf("what had to stay: %v", err)
	}
}

// OP-52: a Secret that goes, or comes back, changes nothing at the server until it holds another value; then it is sent once.
func TestOP52SecretGoesAndComesBack(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	k := e.readyKinds()
	hooked := []client.Object{k.enterprise, k.organization, k.repository, k.credential}
	before := e.Proxy.Counts()
	e.delete(e.Secret(stack.WebhookSecret, ""))
	e.delete(e.Secret(stack.TokenSecret, ""))
	e.tells(v1beta1.ConditionWebhookSecretReference, "not found", hooked...)
	if n := e.Proxy.Counts().Since(before).Writes(); n > 0 {
		t.Errorf("%d writes for Secrets that went:\n%s", n, e.Proxy.Counts().Since(before))
	}
	e.apply(e.Secret(stack.WebhookSecret, "another-hook-secret"), e.Secret(stack.TokenSecret, "ghp_again"))
	e.ready(hooked...)
	counts := e.Proxy.Counts().Since(before)
	for _, template := range []string{"/enterprises/{id}", "/organizations/{id}", "/repositories/{id}", "/github/credentials/{id}"} {
		if n := counts.Of("PUT", template, 200); n != 1 {
			t.Errorf("%d PUTs to %s:\n%s", n, template, counts)
		}
	}
	if n := counts.Writes(); n != 4 {
		t.Errorf("%d writes:\n%s", n, counts)
	}
}

// OP-55: a credential shows its users of every kind by name, and forgets those that go.
func TestOP55UsersOfEveryKind(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	k := e.readyKinds()
	shows := func(enterprises, organizations, repositories []string) {
		t.Helper()
		e.eventually(func() error {
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(k.credential), k.credential); err != nil {
				return err
			}
			s := k.credential.Status
			if !slices.Equal(s.Enterprises, enterprises) || !slices.Equal(s.Organizations, organizations) || !slices.Equal(s.Repositories, repositories) {
				return fmt.Errorf("status has %v %v %v", s.Enterprises, s.Organizations, s.Repositories)
			}
			return nil
		})
	}
	shows([]string{k.enterprise.Name}, []string{k.organization.Name}, []string{k.repository.Name})
	e.delete(k.enterprise)
	e.delete(k.repository)
	e.gone(k.enterprise, k.repository)
	shows(nil, []string{k.organization.Name}, nil)
}
