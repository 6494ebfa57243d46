package operator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// hooked returns what a webhook needs, with an organization and a repository that ask for one.
func (e *env) hooked() (objects []client.Object, org *v1beta1.Organization, repo *v1beta1.Repository) {
	org = e.Organization(stack.Org)
	org.Spec.Webhook = &v1beta1.WebhookSpec{Install: true}
	repo = &v1beta1.Repository{}
	repo.Namespace, repo.Name = e.namespace, "road-map"
	repo.Spec = v1beta1.RepositorySpec{
		Owner: "octo-team", CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
		Webhook: &v1beta1.WebhookSpec{Install: true, InsecureSSL: true},
	}
	for _, o := range e.Base() {
		if o.GetName() != stack.Org {
			objects = append(objects, o)
		}
	}
	return append(objects, org, repo), org, repo
}

// hooks waits until GitHub has as many webhooks as are wanted, each accepted by check.
func (e *env) hooks(n int, check func(githubsim.Hook) error) (all []githubsim.Hook) {
	e.t.Helper()
	e.eventually(func() error {
		all = e.GitHub.Hooks()
		if len(all) != n {
			return fmt.Errorf("%d webhooks, not %d: %+v", len(all), n, all)
		}
		for _, h := range all {
			if err := check(h); err != nil {
				return fmt.Errorf("webhook %+v: %w", h, err)
			}
		}
		return nil
	})
	return all
}

func hasSecret(want string) func(githubsim.Hook) error {
	return func(h githubsim.Hook) error {
		if h.Secret != want {
			return fmt.Errorf("it has another secret")
		}
		return nil
	}
}

// marked waits until resources have recorded that the server and its webhook have the webhook secret as it is now, so that
// nothing is left to do.
func (e *env) marked(objects ...client.Object) {
	e.t.Helper()
	sent := e.Secret(stack.WebhookSecret, "")
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(sent), sent); err != nil {
		e.t.Fatal(err)
	}
	for _, o := range objects {
		e.eventually(func() error {
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			for _, name := range []string{v1beta1.AnnotationSecretMarker, v1beta1.AnnotationWebhookMarker} {
				if marker := o.GetAnnotations()[name]; !strings.Contains(marker, sent.ResourceVersion) {
					return fmt.Errorf("%s of %s is %q, without version %s", name, o.GetName(), marker, sent.ResourceVersion)
				}
			}
			return nil
		})
	}
}

// OP-52: GitHub learns a rotated secret, too. Nothing is called at rest, nor by a restart; a lost database brings no second
// webhook; what is no longer wanted goes, what is no longer mentioned stays.
func TestOP52WebhookLife(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects, org, repo := e.hooked()
	e.apply(objects...)
	e.ready(objects...)
	e.condition(org, v1beta1.ConditionWebhook, "True", v1beta1.ReasonWebhookInstalled)
	e.condition(repo, v1beta1.ConditionWebhook, "True", v1beta1.ReasonWebhookInstalled)
	first := e.hooks(2, hasSecret("correct-horse-battery"))
	for _, h := range first {
		if want := h.Scope == "repos/octo-team/road-map"; h.InsecureSSL != want || !strings.HasPrefix(h.URL, e.ServerURL()+"/webhooks/") {
			t.Errorf("webhook %+v", h)
		}
	}

	edit(e, e.Secret(stack.WebhookSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("a-new-webhook-secret") })
	rotated := e.hooks(2, hasSecret("a-new-webhook-secret"))
	if rotated[0].ID != first[0].ID || rotated[1].ID != first[1].ID {
		t.Errorf("the webhooks were made anew: %+v became %+v", first, rotated)
	}
	e.marked(org, repo)
	e.ready(objects...)

	atRest := e.restarted()
	time.Sleep(time.Second) // nothing may happen, and nothing tells when it has not
	for _, kind := range []string{"/organizations/{id}/webhook", "/repositories/{id}/webhook"} {
		if n := e.Proxy.Counts().Since(atRest).Of("", kind, 0); n != 0 {
			t.Errorf("a restart cost %d calls of %s", n, kind)
		}
	}

	if err := e.LoseDatabase(); err != nil {
		t.Fatal(err)
	}
	if err := e.StartGARM(e.ctx); err != nil {
		t.Fatal(err)
	}
	moved := e.hooks(2, func(h githubsim.Hook) error {
		if h.URL == first[0].URL {
			return fmt.Errorf("it goes to the lost controller")
		}
		return nil
	})
	if moved[0].ID != first[0].ID || moved[1].ID != first[1].ID {
		t.Errorf("the webhooks were made anew: %+v became %+v", first, moved)
	}
	e.ready(objects...)

	edit(e, org, func(o *v1beta1.Organization) { o.Spec.Webhook = nil })
	edit(e, repo, func(r *v1beta1.Repository) { r.Spec.Webhook = &v1beta1.WebhookSpec{} })
	e.condition(repo, v1beta1.ConditionWebhook, "True", v1beta1.ReasonWebhookRemoved)
	e.hooks(1, func(h githubsim.Hook) error {
		if h.Scope != "orgs/"+stack.Org {
			return fmt.Errorf("it was to go")
		}
		return nil
	})
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(org), org); err != nil {
			return err
		}
		if c := status.Find(org, v1beta1.ConditionWebhook); c != nil || org.Annotations[v1beta1.AnnotationWebhookMarker] != "" {
			return fmt.Errorf("what is not mentioned is still told: %+v, %v", c, org.Annotations)
		}
		return nil
	})
	e.ready(objects...)

	edit(e, org, func(o *v1beta1.Organization) { o.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan })
	e.delete(org)
	e.gone(org)
	if left := e.GitHub.Hooks(); len(left) != 1 {
		t.Errorf("the webhook of an orphaned organization is gone: %+v", left)
	}
}

// A server that cannot change a webhook in place has it removed and installed.
func TestWebhookAtServersThatOnlyInstall(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects, org, _ := e.hooked()
	e.apply(objects...)
	e.ready(objects...)
	before := e.hooks(2, hasSecret("correct-horse-battery"))
	e.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: "/organizations/{id}/webhook", Status: 409, Times: 1})
	counts := e.Proxy.Counts()
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.Webhook.InsecureSSL = true })
	e.hooks(2, func(h githubsim.Hook) error {
		if !h.InsecureSSL || h.Scope == "orgs/"+stack.Org && h.ID == before[0].ID {
			return fmt.Errorf("it is the old one")
		}
		return nil
	})
	e.ready(org)
	if n := e.Proxy.Counts().Since(counts).Of("DELETE", "/organizations/{id}/webhook", 200); n != 1 {
		t.Errorf("%d removals, not 1", n)
	}
}

// A server that removes its webhook and still does not install one is not made to remove it again and again: it is told, asked
// ever more rarely, and goes on when the way is free.
func TestWebhookThatStaysInTheWay(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects, org, _ := e.hooked()
	e.apply(objects...)
	e.ready(objects...)
	e.marked(org)
	const template = "/organizations/{id}/webhook"
	e.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: template, Status: 409, Body: `{"error":"Conflict","details":"hook already installed"}`})
	e.Proxy.Inject(garmproxy.Fault{Method: "GET", Template: template, Status: 200, Body: `{"id":7,"url":"https://garm.test/other"}`})
	counts := e.Proxy.Counts()
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.Webhook.InsecureSSL = true })
	e.condition(org, v1beta1.ConditionStalled, "True", v1beta1.ReasonWebhookFailed)
	if got := message(org); !strings.Contains(got, "hook already installed") || !strings.Contains(got, "removed at GitHub") {
		t.Errorf("the message is %q", got)
	}
	e.eventually(func() error {
		if n := e.Proxy.Counts().Since(counts).Of("POST", template, 409); n < 3 {
			return fmt.Errorf("%d tries", n)
		}
		return nil
	})
	if n := e.Proxy.Counts().Since(counts).Of("DELETE", template, 0); n != 1 {
		t.Errorf("%d removals, not 1", n)
	}
	e.Proxy.ClearFaults()
	e.ready(org)
	e.condition(org, v1beta1.ConditionWebhook, "True", v1beta1.ReasonWebhookInstalled)
	e.hooks(2, hasSecret("correct-horse-battery"))
	if n := e.Proxy.Counts().Since(counts).Of("", template, 0); n > 10 {
		t.Errorf("%d calls for one webhook", n)
	}
}

// What stands in the way is told with what to do, is not tried at every wake-up, holds up no Pool, and goes on when it is
// mended.
func TestWebhookFailures(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects, org, repo := e.hooked()
	config := objects[2].(*v1beta1.GarmServerConfig)
	url := config.Spec.WebhookURL
	config.Spec.WebhookURL = ""
	pool := e.Pool("p")
	e.Proxy.Inject(garmproxy.Fault{Template: "/repositories/{id}/webhook", Status: 404, Body: `{"error":"Not found","details":"Resource not found"}`})
	if _, err := e.GitHub.AddFault(githubsim.Fault{Match: "^(GET|POST) /orgs/.*/hooks$", Status: 403}); err != nil {
		t.Fatal(err)
	}
	e.apply(append(objects, pool)...)
	e.ready(pool)
	e.condition(org, v1beta1.ConditionWebhook, "False", v1beta1.ReasonWebhookFailed)
	e.condition(org, v1beta1.ConditionReady, "False", v1beta1.ReasonControllerURLsMissing)
	if !strings.Contains(message(org), "GarmServerConfig") {
		t.Errorf("the message is %q", message(org))
	}

	edit(e, config, func(c *v1beta1.GarmServerConfig) { c.Spec.WebhookURL = url })
	e.condition(org, v1beta1.ConditionReady, "False", v1beta1.ReasonWebhookFailed)
	if got := message(org); !strings.Contains(got, "403") || !strings.Contains(got, "admin:org_hook") {
		t.Errorf("the message is %q", got)
	}
	e.condition(repo, v1beta1.ConditionStalled, "True", v1beta1.ReasonWebhookFailed)
	if got := message(repo); !strings.Contains(got, "enable_webhook_management") {
		t.Errorf("the message is %q", got)
	}

	refused := e.Proxy.Counts()
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.MaxRunners = 9 }) // wakes its organization
	e.ready(pool)
	if n := e.Proxy.Counts().Since(refused).Of("POST", "/organizations/{id}/webhook", 0); n != 0 {
		t.Errorf("it was tried %d times more", n)
	}

	e.GitHub.ClearFaults()
	e.Proxy.ClearFaults()
	edit(e, e.Secret(stack.TokenSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("ghp_with_the_scope") })
	e.condition(org, v1beta1.ConditionWebhook, "True", v1beta1.ReasonWebhookInstalled)
	e.ready(org, repo)

	if _, err := e.GitHub.AddFault(githubsim.Fault{Match: "^DELETE .*/hooks/", Status: 502}); err != nil {
		t.Fatal(err)
	}
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.Webhook.Install = false })
	e.condition(org, v1beta1.ConditionWebhook, "False", v1beta1.ReasonWebhookFailed)
	e.ready(org)
}
