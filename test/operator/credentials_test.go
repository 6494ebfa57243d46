package operator_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// OP-55: a credential shows who uses it, and waits for them when it is deleted.
func TestOP55UsersOfCredential(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base...)
	e.ready(base...)
	credential := e.Credential(stack.Credential, "", "")
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(credential), credential); err != nil {
			return err
		}
		if !slices.Contains(credential.Status.Organizations, stack.Org) {
			return fmt.Errorf("status has organizations %v", credential.Status.Organizations)
		}
		return nil
	})
	endpoint := e.Endpoint(stack.EndpointName)
	e.delete(endpoint)
	e.delete(credential)
	e.condition(endpoint, v1beta1.ConditionReady, "False", v1beta1.ReasonInUse)
	e.condition(credential, v1beta1.ConditionReady, "False", v1beta1.ReasonInUse)
	if n := e.Proxy.Counts().Of("DELETE", "", 0); n > 0 {
		t.Errorf("%d DELETEs were sent although they had to be refused", n)
	}
	org := e.Organization(stack.Org)
	e.delete(org)
	e.gone(org, credential, endpoint)
}

// OP-32: the built-in endpoint is adopted as it is, and stays when its resource goes.
func TestOP32BuiltInEndpoint(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.Proxy.Speak(garmproxy.V015())
	e.run()
	builtIn := e.Endpoint("github.com")
	builtIn.Spec = v1beta1.GitHubEndpointSpec{BaseURL: "https://github.com/", APIBaseURL: "https://api.github.com"}
	e.apply(e.Base()[2], builtIn)
	e.ready(builtIn)
	e.delete(builtIn)
	e.gone(builtIn)
	if endpoints, err := e.GARM.ListEndpoints(e.ctx); err != nil || len(endpoints) != 1 {
		t.Errorf("the server has %v, %v", endpoints, err)
	}
	counts := e.Proxy.Counts()
	if counts.Of("PUT", "/github/endpoints/{id}", 0)+counts.Of("DELETE", "", 0) > 0 {
		t.Errorf("the built-in endpoint was written to:\n%s", counts)
	}
}

// An outage makes nothing twice and deletes nothing, and what was in step says nothing about a short one.
func TestOutage(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]garmproxy.Fault{
		"errors":  {Status: 500},
		"refused": {Drop: true},
		"late":    {Drop: true, Late: true, Method: "POST", Template: "/organizations/{id}/pools"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setup(t).run()
			first := append(e.Base(), e.Pool("first"))
			e.apply(first...)
			e.ready(first...)
			before := e.versions(first...)
			remove := e.Proxy.Inject(fault)
			second := e.Pool("second")
			e.apply(second)
			time.Sleep(5 * time.Second) // the outage lasts
			remove()
			e.ready(append(first, second)...)
			if n := len(e.pools()); n != 2 {
				t.Errorf("the server has %d pools, not 2", n)
			}
			counts := e.Proxy.Counts()
			if n := counts.Of("DELETE", "", 0); n > 0 {
				t.Errorf("%d deletions", n)
			}
			if after := e.versions(first...); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("resources in step were written: %v became %v", before, after)
			}
		})
	}
}
