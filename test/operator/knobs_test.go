package operator_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// OP-34: a Pool whose Image comes later waits for it and is then created; a new tag reaches all its Pools.
func TestOP34PoolBeforeItsImage(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base, pools := e.Base(), e.Pools(2)
	image := base[6].(*v1beta1.Image)
	e.apply(append(base[:6], pools...)...)
	e.ready(base[:6]...)
	for _, p := range pools {
		e.condition(p, v1beta1.ConditionImageReference, "False", v1beta1.ReasonFetchingImageRefFailed)
	}
	if n := len(e.pools()); n > 0 {
		t.Fatalf("%d pools were made without an image", n)
	}
	e.apply(image)
	e.ready(pools...)
	edit(e, image, func(i *v1beta1.Image) { i.Spec.Tag = "ubuntu-26.04" })
	e.eventually(func() error {
		for _, p := range e.pools() {
			if p.Image != "ubuntu-26.04" {
				return fmt.Errorf("pool %s has image %s", p.ID, p.Image)
			}
		}
		return nil
	})
	if n := len(e.pools()); n != 2 {
		t.Errorf("the server has %d pools", n)
	}
}

// A priority is the user's where it is set, and the server's where it is not.
func TestPoolPriority(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.Proxy.Speak(garmproxy.V015())
	e.run()
	pool := e.Pool("p")
	pool.Spec.Priority = new(int64(5))
	e.apply(append(e.Base(), pool)...)
	e.ready(pool)
	expect := func(want uint) {
		t.Helper()
		e.eventually(func() error {
			if got := e.pools()[0].Priority; got != want {
				return fmt.Errorf("priority is %d, not %d", got, want)
			}
			return nil
		})
	}
	byHand := func(priority uint) {
		t.Helper()
		if _, err := e.GARM.UpdatePool(e.ctx, pool.Status.ID, garm.UpdatePoolParams{Priority: &priority}); err != nil {
			t.Fatal(err)
		}
	}
	expect(5)
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.Priority = new(int64(0)) })
	expect(0)
	byHand(9)
	expect(0)
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.Priority = nil })
	e.ready(pool)
	byHand(9)
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.MaxRunners = 7 })
	e.eventually(func() error {
		if got := e.pools()[0].MaxRunners; got != 7 {
			return fmt.Errorf("maxRunners is %d", got)
		}
		return nil
	})
	expect(9)
}

// OP-13: names that GitHub allows and Kubernetes does not reach the server as they are, for each kind of entity.
func TestOP13NamesOfGitHub(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	org, meta := e.Organization("acme"), func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: e.namespace, Name: name}
	}
	org.Spec.Name = "ACME"
	enterprise := &v1beta1.Enterprise{ObjectMeta: meta("big"), Spec: v1beta1.EnterpriseSpec{
		Name: "Big_Corp", CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
	}}
	repository := &v1beta1.Repository{ObjectMeta: meta("my-repo"), Spec: v1beta1.RepositorySpec{
		Name: "My_Repo.js", Owner: "ACME", CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
	}}
	e.apply(append(e.Base()[:5], org, enterprise, repository)...)
	e.ready(org, enterprise, repository)
	var events corev1.EventList
	if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
		t.Fatal(err)
	}
	for _, event := range events.Items {
		if strings.Contains(event.Message, v1beta1.ReasonPoolManagerFailure) {
			t.Errorf("a pool manager that starts is told as a failure of %s: %s", event.InvolvedObject.Name, event.Message)
		}
	}
	atOrg, err1 := e.GARM.GetOrganization(e.ctx, org.Status.ID)
	atEnterprise, err2 := e.GARM.GetEnterprise(e.ctx, enterprise.Status.ID)
	atRepository, err3 := e.GARM.GetRepository(e.ctx, repository.Status.ID)
	if atOrg.Name != "ACME" || atEnterprise.Name != "Big_Corp" || atRepository.Name != "My_Repo.js" || atRepository.Owner != "ACME" {
		t.Errorf("the server has %q %q %q/%q (%v %v %v)", atOrg.Name, atEnterprise.Name, atRepository.Owner, atRepository.Name, err1, err2, err3)
	}
}

// OP-14, OP-24: credentials and an endpoint that were deleted at the server come back.
func TestOP24CredentialsDeletedAtTheServer(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base[:5]...)
	endpoint, credential := base[3], base[4].(*v1beta1.GitHubCredential)
	e.ready(endpoint, credential)
	id := uint(credential.Status.ID)
	if err := e.GARM.DeleteCredentials(e.ctx, id); err != nil {
		t.Fatal(err)
	}
	// They may be back already, and then hold the endpoint.
	if err := e.GARM.DeleteEndpoint(e.ctx, stack.EndpointName); err != nil && garm.KindOf(err) != garm.KindInvalid {
		t.Fatal(err)
	}
	e.eventually(func() error {
		if n := e.Proxy.Counts().Of("POST", "/github/credentials", 200); n != 2 {
			return fmt.Errorf("%d creates of credentials", n)
		}
		list, err := e.GARM.ListCredentials(e.ctx)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("the server has %+v, %w", list, err)
		}
		if _, err := e.GARM.GetEndpoint(e.ctx, stack.EndpointName); err != nil {
			return err
		}
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(credential), credential); err != nil {
			return err
		}
		if uint(credential.Status.ID) != list[0].ID {
			return fmt.Errorf("status has id %d, the server %d", credential.Status.ID, list[0].ID)
		}
		return nil
	})
	e.ready(endpoint, credential)
}

// OP-20: what was made by hand stays when a resource of its name goes that never came to stand for it; what was made for
// the resource goes, though no answer told of it.
func TestOP20OnlyItsOwnIsDeleted(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base[:4]...)
	e.ready(base[2], base[3])
	spec := base[3].(*v1beta1.GitHubEndpoint).Spec
	_, err := e.GARM.CreateEndpoint(e.ctx, garm.CreateEndpointParams{
		Name: "by-hand", BaseURL: string(spec.BaseURL), APIBaseURL: string(spec.APIBaseURL), UploadBaseURL: string(spec.UploadBaseURL),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.GARM.CreateCredentials(e.ctx, garm.CreateCredentialsParams{
		Name: "by-hand", Endpoint: stack.EndpointName, AuthType: garm.AuthTypePAT, PAT: &garm.PAT{OAuth2Token: "ghp_hand"},
	}); err != nil {
		t.Fatal(err)
	}
	endpoint, credential := e.Endpoint("by-hand"), e.Credential("by-hand", stack.EndpointName, "missing")
	endpoint.Spec.CACertBundleSecretRef = &v1beta1.SecretRef{Name: "missing", Key: "ca"}
	e.apply(endpoint, credential)
	for _, o := range []client.Object{endpoint, credential} {
		e.condition(o, v1beta1.ConditionReady, "False", v1beta1.ReasonFetchingWebhookSecretRefFailed)
		e.delete(o)
		e.gone(o)
	}
	if n := e.Proxy.Counts().Of("DELETE", "", 0); n > 0 {
		t.Errorf("%d DELETEs of what was made by hand", n)
	}

	blind := e.Proxy.Inject(garmproxy.Fault{Method: "GET", Template: "/github/*", Status: 500})
	e.Proxy.SetEventFaults(garmproxy.EventFaults{Drop: 1})
	e.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: "/github/*", Drop: true, Late: true})
	lost := []client.Object{e.Endpoint("lost"), e.Credential("lost", stack.EndpointName, stack.TokenSecret)}
	e.apply(lost...)
	for _, o := range lost {
		e.condition(o, v1beta1.ConditionReady, "False", v1beta1.ReasonGarmAPIError)
		e.delete(o)
	}
	blind()
	e.gone(lost...)
	credentials, err1 := e.GARM.ListCredentials(e.ctx)
	endpoints, err2 := e.GARM.ListEndpoints(e.ctx)
	if len(credentials) != 1 || credentials[0].Name != "by-hand" || len(endpoints) != 3 {
		t.Errorf("the server has the credentials %+v and the endpoints %+v (%v, %v)", credentials, endpoints, err1, err2)
	}
}

// OP-5: extra specs that were edited at the server while the operator was away are put back at its start, where the server
// tells which pools have changed; only those are read one by one.
func TestOP5ExtraSpecsEditedMeanwhile(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pools := e.Pools(3)
	for _, p := range pools {
		p.(*v1beta1.Pool).Spec.ExtraSpecs = `{"disk": 40}`
	}
	e.apply(append(e.Base(), pools...)...)
	e.ready(pools...)
	e.stop()
	edited := pools[1].(*v1beta1.Pool)
	if _, err := e.GARM.UpdatePool(e.ctx, edited.Status.ID, garm.UpdatePoolParams{ExtraSpecs: []byte(`{"disk": 7}`)}); err != nil {
		t.Fatal(err)
	}
	before := e.Proxy.Counts()
	e.run()
	e.eventually(func() error {
		p, err := e.GARM.GetPool(e.ctx, edited.Status.ID)
		if err != nil || string(p.ExtraSpecs) != `{"disk":40}` {
			return fmt.Errorf("extra specs are %s, %w", p.ExtraSpecs, err)
		}
		return nil
	})
	e.ready(pools...)
	counts := e.Proxy.Counts().Since(before)
	if gets, puts := counts.Of("GET", "/pools/{id}", 0), counts.Of("PUT", "", 0); gets != 1 || puts != 1 {
		t.Errorf("%d GETs and %d PUTs:\n%s", gets, puts, counts)
	}
}
