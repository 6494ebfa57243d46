package operator_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
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

// OP-33: a GitHub App works as a token does: the server works with GitHub through its installation, another installation or key is
// sent once, and a restart sends nothing.
func TestOP33GitHubApp(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
		e := setup(t, func(o *stack.Options) {
			o.GitHub.Apps = []githubsim.App{{ID: 5, PublicKey: &key.PublicKey, Installations: []int64{55, 56}}}
		})
		e.Proxy.Speak(dialect)
		e.run()
		base := e.Base()
		base[0] = e.Secret(stack.TokenSecret, private)
		credential := base[4].(*v1beta1.GitHubCredential)
		credential.Spec.AuthType, credential.Spec.AppID, credential.Spec.InstallationID = v1beta1.AuthTypeApp, 5, 55
		e.apply(base...)
		e.ready(base...) // the Organization among them: its pool manager has spoken to GitHub
		puts := func() int { return e.Proxy.Counts().Of("PUT", "/github/credentials/{id}", 0) }
		for n, change := range []func(){
			func() { edit(e, credential, func(c *v1beta1.GitHubCredential) { c.Spec.InstallationID = 56 }) },
			func() {
				edit(e, e.Secret(stack.TokenSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("\n" + private) })
			},
		} {
			change()
			e.eventually(func() error {
				if puts() != n+1 {
					return fmt.Errorf("%d PUTs, not %d", puts(), n+1)
				}
				return nil
			})
			e.ready(base...)
		}
		e.eventually(func() error { // what was sent is recorded
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(credential), credential); err != nil {
				return err
			}
			if marker := credential.Annotations[v1beta1.AnnotationSecretMarker]; !strings.HasSuffix(marker, "/5/56") {
				return fmt.Errorf("the marker is %q", marker)
			}
			return nil
		})
		e.restarted()
		e.ready(base...)
		if n := puts(); n != 2 {
			t.Errorf("%d PUTs, not 2", n)
		}
	})
}

// OP-14: credentials that somebody else made at a server that lost its database get the secret, although they have the id that
// those of the lost one had.
func TestOP14CredentialsOfTheSameID(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	credential := base[4].(*v1beta1.GitHubCredential)
	e.apply(base[:5]...)
	e.ready(credential)
	e.stop()
	if err := e.LoseDatabase(); err != nil {
		t.Fatal(err)
	}
	if err := e.StartGARM(e.ctx); err != nil {
		t.Fatal(err)
	}
	if id := e.fill().credentials.ID; int64(id) != credential.Status.ID {
		t.Fatalf("the new server drew the id %d, not %d", id, credential.Status.ID)
	}
	before, old := e.Proxy.Counts(), credential.Status.ControllerID
	e.run()
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(credential), credential); err != nil {
			return err
		}
		if credential.Status.ControllerID == old {
			return fmt.Errorf("the status is still that of controller %s", old)
		}
		return nil
	})
	e.ready(credential)
	if counts := e.Proxy.Counts().Since(before); counts.Of("PUT", "/github/credentials/{id}", 200) != 1 {
		t.Errorf("the secret was not sent once:\n%s", counts)
	}
}
