package operator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// OP-20: a credential that never came to be, since the server has another one of its name, can be deleted; the other
// one stays.
func TestOP20CredentialOfATakenName(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base[:4]...)
	e.apply(e.Endpoint("other"))
	e.ready(base[3], e.Endpoint("other"))
	for name, params := range map[string]garm.CreateCredentialsParams{
		"elsewhere":   {Endpoint: "other", AuthType: "pat", PAT: &garm.PAT{OAuth2Token: "ghp_hand"}},
		"another-way": {Endpoint: stack.EndpointName, AuthType: "pat", PAT: &garm.PAT{OAuth2Token: "ghp_hand"}},
	} {
		params.Name, params.Description = name, "made by hand"
		hand, err := e.GARM.CreateCredentials(e.ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		credential := e.Credential(name, stack.EndpointName, stack.TokenSecret)
		if name == "another-way" {
			credential.Spec.AuthType, credential.Spec.AppID, credential.Spec.InstallationID = v1beta1.AuthTypeApp, 7, 8
		}
		e.apply(credential)
		e.condition(credential, v1beta1.ConditionStalled, "True", v1beta1.ReasonInvalidSpec)
		e.delete(credential)
		e.gone(credential)
		if _, err := e.GARM.GetCredentials(e.ctx, hand.ID); err != nil {
			t.Errorf("%s: the credentials made by hand: %v", name, err)
		}
	}
}

// A server may draw the id of deleted credentials again. The resource that has recorded it is neither stuck nor takes
// what is not its own.
func TestCredentialIDDrawnAgain(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base[:5]...)
	lost := e.Credential("lost", stack.EndpointName, stack.TokenSecret)
	dead := e.Credential("dead", stack.EndpointName, stack.TokenSecret)
	e.apply(lost, dead)
	e.ready(base[4], lost, dead)
	other := base[4].(*v1beta1.GitHubCredential)
	e.stop()
	for _, c := range []*v1beta1.GitHubCredential{lost, dead} {
		if err := e.GARM.DeleteCredentials(e.ctx, uint(c.Status.ID)); err != nil {
			t.Fatal(err)
		}
		before := c.DeepCopy()
		c.Status.ID = other.Status.ID
		if err := e.Kube.Status().Patch(e.ctx, c, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	e.delete(dead)
	e.run()
	e.gone(dead)
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(lost), lost); err != nil {
			return err
		}
		if lost.Status.ID == other.Status.ID {
			return fmt.Errorf("still has the id of %s", other.Name)
		}
		return nil
	})
	e.ready(lost, other)
}

// An entity cannot move to another endpoint: the resource says so, and asks the server for nothing meanwhile.
func TestEntityOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects := append(e.Base(), e.Endpoint("other"), e.Credential("elsewhere", "other", stack.TokenSecret))
	e.apply(objects...)
	e.ready(objects...)
	org := e.Organization(stack.Org)
	before := e.Proxy.Counts()
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.CredentialsRef.Name = "elsewhere" })
	e.condition(org, v1beta1.ConditionStalled, "True", v1beta1.ReasonInvalidSpec)
	if n := e.Proxy.Counts().Since(before).Of("GET", "/organizations/{id}", 0); n > 2 {
		t.Errorf("%d requests for the organization", n)
	}
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.CredentialsRef.Name = stack.Credential })
	e.ready(org)
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.CredentialsRef.Name = "elsewhere" })
	e.delete(org)
	e.gone(org)
	if left, err := e.GARM.ListOrganizations(e.ctx); err != nil || len(left) > 0 {
		t.Errorf("the server has %+v, %v", left, err)
	}
}

// OP-20: an entity whose create was carried out although no answer arrived is deleted with its resource.
func TestOP20LostCreateThenDelete(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base[:5]...)
	e.ready(base[2], base[3], base[4])
	blind := e.Proxy.Inject(garmproxy.Fault{Method: "GET", Template: "/organizations", Status: 500})
	e.Proxy.SetEventFaults(garmproxy.EventFaults{Drop: 1})
	e.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: "/organizations", Drop: true, Late: true})
	org := e.Organization(stack.Org)
	e.apply(org)
	e.eventually(func() error {
		if left, err := e.GARM.ListOrganizations(e.ctx); err != nil || len(left) == 0 {
			return fmt.Errorf("not created: %w", err)
		}
		return nil
	})
	e.condition(org, v1beta1.ConditionReady, "False", v1beta1.ReasonGarmAPIError)
	e.delete(org)
	blind()
	e.gone(org)
	if left, err := e.GARM.ListOrganizations(e.ctx); err != nil || len(left) > 0 {
		t.Errorf("the server has %+v, %v", left, err)
	}
}

// OP-24: a 404 to a deletion is its success, not a failure that is told.
func TestOP24NotFoundOnDelete(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pool := e.Pool("p")
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	e.Proxy.Inject(garmproxy.Fault{Method: "DELETE", Template: "/pools/{id}", Late: true, Status: 404, Body: `{"error":"Not Found","details":"not found"}`})
	e.delete(pool)
	e.gone(pool)
	var events corev1.EventList
	if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
		t.Fatal(err)
	}
	for _, v := range events.Items {
		if v.InvolvedObject.UID == pool.UID && v.Type == corev1.EventTypeWarning {
			t.Errorf("told %s: %s", v.Reason, v.Message)
		}
	}
}

// While the server breaks connections, a resource is told once, whatever ports the errors name.
func TestOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects := append(e.Base(), e.Pool("p"))
	e.apply(objects...)
	e.ready(objects...)
	e.Proxy.Inject(garmproxy.Fault{Drop: true})
	e.Proxy.CloseStreams()
	pool := e.Pool("fresh")
	e.apply(pool)
	e.condition(pool, v1beta1.ConditionReady, "False", v1beta1.ReasonGarmUnavailable)
	message := status.Find(pool, v1beta1.ConditionReady).Message
	first := e.versions(pool)
	time.Sleep(10 * time.Second)
	if now := e.versions(pool); fmt.Sprint(now) != fmt.Sprint(first) {
		_ = e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool)
		t.Errorf("written again: %q became %q", message, status.Find(pool, v1beta1.ConditionReady).Message)
	}
}

// OP-5: extra specs that are taken away are taken away once, with either generation of server.
func TestOP5ExtraSpecsTakenAway(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.Proxy.Speak(garmproxy.V015())
	e.run()
	pool := e.Pool("p")
	pool.Spec.ExtraSpecs = `{"a": 1}`
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	before := e.Proxy.Counts()
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.ExtraSpecs = "" })
	e.ready(pool)
	time.Sleep(7 * time.Second)
	if n := e.Proxy.Counts().Since(before).Of("PUT", "/pools/{id}", 0); n != 1 {
		t.Errorf("%d PUTs", n)
	}
}

// A runner that the server does not let go is no fault of the Pool's: it stays Ready, and the runner is asked again later.
func TestRefusedRunnerLeavesPoolReady(t *testing.T) {
	t.Parallel()
	e, p, pool, names := parked(t, 2, func(e *env) { e.config.Operator.MinIdleRunnersAge = time.Second })
	refuse := e.Proxy.Inject(garmproxy.Fault{Method: "DELETE", Template: "/instances/{id}", Status: 400})
	for _, name := range names {
		p.report(e, name, string(garm.RunnerIdle))
	}
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.MinIdleRunners = 0 })
	e.eventually(func() error {
		if n := e.Proxy.Counts().Of("DELETE", "/instances/{id}", 400); n < 2 {
			return fmt.Errorf("%d runners were asked to go", n)
		}
		return nil
	})
	e.ready(pool)
	refuse()
	var events corev1.EventList
	if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
		t.Fatal(err)
	}
	for _, v := range events.Items {
		if v.InvolvedObject.UID == pool.UID && v.Type == corev1.EventTypeWarning && v.Reason == "Error" && v.Count > 0 {
			t.Logf("told %s", v.Message)
			if strings.Contains(v.Message, v1beta1.ReasonInvalidSpec) {
				t.Errorf("the Pool was Stalled: %s", v.Message)
			}
		}
	}
}

// OP-18: a pool that is made after the Pool that names it, or is not seen yet, is adopted when it is there.
func TestOP18AdoptionWaitsForThePool(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base...)
	e.ready(base...)
	org := e.Organization(stack.Org)
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(org), org); err != nil {
		t.Fatal(err)
	}
	blind := e.Proxy.Inject(garmproxy.Fault{Method: "GET", Template: "/pools", Status: 500})
	e.Proxy.SetEventFaults(garmproxy.EventFaults{Drop: 1})
	hand := e.byHand(org, "taken")
	taken := e.Pool("taken")
	taken.Annotations = map[string]string{v1beta1.AnnotationAdoptPoolID: hand.ID}
	e.apply(taken)
	e.condition(taken, v1beta1.ConditionStalled, "True", v1beta1.ReasonInvalidSpec)
	blind()
	e.Proxy.SetEventFaults(garmproxy.EventFaults{})
	e.Proxy.CloseStreams() // a new stream lists anew
	e.ready(taken)
	if taken.Status.ID != hand.ID {
		t.Errorf("the Pool has id %s, not %s", taken.Status.ID, hand.ID)
	}
}
