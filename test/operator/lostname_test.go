package operator_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// restore creates resources with the status that they have, as a backup brings them back.
func (e *env) restore(finalizers map[client.Object]string) {
	e.t.Helper()
	for obj, finalizer := range finalizers {
		obj.SetFinalizers([]string{finalizer})
		kept := obj.DeepCopyObject().(client.Object)
		e.apply(obj)
		kept.SetUID(obj.GetUID())
		kept.SetResourceVersion(obj.GetResourceVersion())
		if err := e.Kube.Status().Update(e.ctx, kept); err != nil {
			e.t.Fatal(err)
		}
	}
}

// stalled waits until a resource is Stalled for its spec, and says how to go on.
func (e *env) stalled(obj client.Object, reason string, says ...string) {
	e.t.Helper()
	e.condition(obj, v1beta1.ConditionStalled, "True", reason)
	for _, want := range says {
		if got := message(obj.(v1beta1.Conditioned)); !strings.Contains(got, want) {
			e.t.Errorf("%s says %q, not %q", obj.GetName(), got, want)
		}
	}
}

// OP-13: resources that have lost their spec.name go on standing for the objects whose ids they have: nothing is created or
// adopted under the other name, the condition tells how to heal it, and deletion reaches the recorded object alone.
func TestOP13LostName(t *testing.T) {
	t.Parallel()
	e := setup(t)
	at := e.fill()
	controller, err := e.GARM.ControllerInfo(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	lost := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: e.namespace, Name: name} }
	status := func(id string) v1beta1.EntityStatus {
		return v1beta1.EntityStatus{ID: id, ControllerID: controller.ControllerID, Endpoint: stack.EndpointName}
	}
	// What the names say now is at the server, too.
	entity := garm.CreateEntityParams{CredentialsName: stack.Credential, WebhookSecret: "correct-horse-battery", Owner: "octo-org", Name: "lost"}
	if _, err := e.GARM.CreateRepository(e.ctx, entity); err != nil {
		t.Fatal(err)
	}
	endpoint, credential, enterprise, organization, repository, pool := e.mirrors()
	enterprise.ObjectMeta, enterprise.Status.ID = lost("lost"), at.enterprise.ID // older definitions have the id alone
	organization.ObjectMeta, organization.Status = lost("lost"), status(at.organization.ID)
	repository.ObjectMeta, repository.Status = lost("lost"), status(at.repository.ID)
	pool.Spec.GitHubScopeRef.Name = "lost"
	pool.Status.ID, pool.Status.ControllerID = at.pool.ID, controller.ControllerID
	base := e.Base()
	e.apply(base[0], base[1], base[2], base[6], endpoint, credential)
	e.restore(map[client.Object]string{
		enterprise: v1beta1.FinalizerEnterprise, organization: v1beta1.FinalizerOrganization, repository: v1beta1.FinalizerRepository, pool: v1beta1.FinalizerPool,
	})
	e.run()
	e.stalled(enterprise, v1beta1.ReasonInvalidSpec, `"lost"`, `set spec.name to "Octo-Enterprise"`)
	e.stalled(organization, v1beta1.ReasonInvalidSpec, `set spec.name to "Octo-Org"`)
	e.stalled(repository, v1beta1.ReasonInvalidSpec, `set spec.name to "Road-Map"`)
	e.ready(pool) // the pool goes on with the recorded organization

	_, _, _, second, _, _ := e.mirrors()
	e.apply(second)
	e.stalled(second, v1beta1.ReasonNotOwner, e.namespace+"/lost")
	e.delete(second)
	e.gone(second)

	e.delete(repository)
	e.gone(repository)
	if left, err := e.GARM.ListRepositories(e.ctx); err != nil || len(left) != 1 || left[0].Name != "lost" {
		t.Errorf("the server has the repositories %+v (%v)", left, err)
	}

	edit(e, organization, func(o *v1beta1.Organization) { o.Spec.Name = o.Status.Name })
	edit(e, enterprise, func(o *v1beta1.Enterprise) { o.Spec.Name = o.Status.Name })
	e.ready(organization, enterprise, pool)
	if organization.Status.ID != at.organization.ID || enterprise.Status.ID != at.enterprise.ID || pool.Status.ID != at.pool.ID {
		t.Errorf("ids have changed: %v, %v, %v", organization.Status, enterprise.Status, pool.Status)
	}
	counts := e.Proxy.Counts()
	if n := counts.Of("POST", "", 0) - counts.Of("POST", "/auth/login", 0); n > 0 {
		t.Errorf("%d POSTs:\n%s", n, counts)
	}
}

// What cannot be moved at the server is not made a second time: a pool whose organization is another one now, credentials
// of another endpoint.
func TestNothingIsMadeAgainElsewhere(t *testing.T) {
	t.Parallel()
	e := setup(t)
	at := e.fill()
	controller, err := e.GARM.ControllerInfo(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	entity := garm.CreateEntityParams{CredentialsName: stack.Credential, WebhookSecret: "correct-horse-battery", Name: "Other-Org"}
	if _, err := e.GARM.CreateOrganization(e.ctx, entity); err != nil {
		t.Fatal(err)
	}
	endpoint, credential, _, _, _, pool := e.mirrors()
	organization := e.Organization("other-org")
	pool.Spec.GitHubScopeRef.Name = organization.Name
	pool.Status.ID, pool.Status.ControllerID = at.pool.ID, controller.ControllerID
	base := e.Base()
	e.apply(base[0], base[1], base[2], base[6], endpoint, credential, organization)
	e.restore(map[client.Object]string{pool: v1beta1.FinalizerPool})
	e.run()
	e.ready(endpoint, credential, organization)
	e.stalled(pool, v1beta1.ReasonInvalidSpec, "spec.githubScopeRef", at.pool.ID, "Octo-Org", "delete the Pool")

	edit(e, credential, func(c *v1beta1.GitHubCredential) { c.Spec.EndpointRef.Name = "github.com" })
	github := e.Endpoint("github.com")
	github.Spec = v1beta1.GitHubEndpointSpec{}
	e.apply(github)
	e.stalled(credential, v1beta1.ReasonInvalidSpec, fmt.Sprintf("set spec.endpointRef.name to %q", stack.EndpointName))
	edit(e, credential, func(c *v1beta1.GitHubCredential) { c.Spec.EndpointRef.Name = stack.EndpointName })
	e.ready(credential)

	counts := e.Proxy.Counts()
	if n := counts.Of("POST", "", 0) - counts.Of("POST", "/auth/login", 0); n > 0 {
		t.Errorf("%d POSTs:\n%s", n, counts)
	}
	e.delete(pool)
	e.gone(pool)
	if pools := e.pools(); len(pools) != 0 {
		t.Errorf("the server still has %+v", pools)
	}
}
