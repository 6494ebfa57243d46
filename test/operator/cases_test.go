package operator_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// OP-52, OP-53: a changed secret is sent once, an unchanged one never again, not after a restart either.
func TestOP52SecretRotation(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects := append(e.Base(), e.Pool("p"))
	e.apply(objects...)
	e.ready(objects...)
	before := e.Proxy.Counts()
	edit(e, e.Secret(stack.WebhookSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("a-new-webhook-secret") })
	edit(e, e.Secret(stack.TokenSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("ghp_new") })
	e.eventually(func() error {
		now := e.Proxy.Counts().Since(before)
		if now.Of("PUT", "/organizations/{id}", 200) < 1 || now.Of("PUT", "/github/credentials/{id}", 200) < 1 {
			return fmt.Errorf("not sent yet: %s", now)
		}
		return nil
	})
	e.eventually(func() error {
		o := e.Organization(stack.Org)
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if o.Annotations[v1beta1.AnnotationSecretMarker] == "" {
			return fmt.Errorf("no marker")
		}
		return nil
	})
	e.ready(objects...)
	e.stop()
	atRest := e.Proxy.Counts()
	versions := e.versions(objects...)
	e.run()
	e.eventually(func() error {
		if e.Proxy.Counts().Since(atRest).Of("GET", "/instances", 200) < 1 {
			return fmt.Errorf("the restarted operator has not listed yet")
		}
		return nil
	})
	time.Sleep(2 * time.Second) // nothing may happen, and nothing tells when it has not
	after := e.Proxy.Counts().Since(atRest)
	if after.Writes() > 1 || after.Requests() > 20 { // the login is a POST
		t.Errorf("a restart cost %d requests:\n%s", after.Requests(), after)
	}
	if again := e.versions(objects...); fmt.Sprint(again) != fmt.Sprint(versions) {
		t.Errorf("a restart wrote to Kubernetes: %v became %v", versions, again)
	}
	if n := e.Proxy.Counts().Since(before).Of("PUT", "", 0); n != 2 {
		t.Errorf("%d PUTs, not 2", n)
	}
}

func (e *env) versions(objects ...client.Object) map[string]string {
	e.t.Helper()
	all := map[string]string{}
	for _, o := range objects {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o); err != nil {
			e.t.Fatal(err)
		}
		all[fmt.Sprintf("%T/%s", o, o.GetName())] = o.GetResourceVersion()
	}
	return all
}

// OP-12: a paused resource is left alone, says so, and is let go when it is deleted; "false" does not pause.
func TestOP12Paused(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pool := e.Pool("p")
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	edit(e, pool, func(p *v1beta1.Pool) { p.Annotations = map[string]string{v1beta1.AnnotationPaused: ""} })
	e.condition(pool, v1beta1.ConditionPaused, "True", v1beta1.ReasonPaused)
	edit(e, pool, func(p *v1beta1.Pool) {
		p.Annotations[v1beta1.AnnotationPaused] = "false"
		p.Spec.MaxRunners = 7
	})
	e.ready(pool)
	e.eventually(func() error {
		if got := e.pools()[0].MaxRunners; got != 7 {
			return fmt.Errorf("maxRunners is %d", got)
		}
		return nil
	})
	edit(e, pool, func(p *v1beta1.Pool) { p.Annotations[v1beta1.AnnotationPaused] = "true" })
	e.condition(pool, v1beta1.ConditionPaused, "True", v1beta1.ReasonPaused)
	e.delete(pool)
	e.gone(pool)
	if n := len(e.pools()); n != 1 {
		t.Errorf("the server has %d pools after a paused Pool was released, not 1", n)
	}
}

// OP-19, OP-24: what was deleted at the server is created again; what is gone does not hold up a deletion.
func TestOP19DeletedAtTheServer(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pool := e.Pool("p")
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	old := pool.Status.ID
	if err := e.GARM.DeletePool(e.ctx, old); err != nil {
		t.Fatal(err)
	}
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
			return err
		}
		if pool.Status.ID == old {
			return fmt.Errorf("not created again")
		}
		return nil
	})
	e.ready(pool)
	edit(e, pool, func(p *v1beta1.Pool) { p.Finalizers = append(p.Finalizers, metav1.FinalizerDeleteDependents) })
	if err := e.GARM.DeletePool(e.ctx, pool.Status.ID); err != nil {
		t.Fatal(err)
	}
	e.delete(pool)
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
			return client.IgnoreNotFound(err)
		}
		for _, f := range pool.Finalizers {
			if f == v1beta1.FinalizerPool {
				return fmt.Errorf("the finalizer is still there")
			}
		}
		return nil
	})
}

// OP-15: two owners, one name. And one entity never has two resources.
func TestOP15NaturalKeys(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	e.apply(e.Base()...)
	repository := func(name, owner string) *v1beta1.Repository {
		org := e.Organization(name)
		return &v1beta1.Repository{ObjectMeta: org.ObjectMeta, Spec: v1beta1.RepositorySpec{
			Name: "App", Owner: owner, CredentialsRef: org.Spec.CredentialsRef, WebhookSecretRef: org.Spec.WebhookSecretRef,
		}}
	}
	a, b := repository("a", "orga"), repository("b", "orgb")
	e.apply(a, b)
	e.ready(a, b)
	if a.Status.ID == b.Status.ID {
		t.Fatalf("both have id %s", a.Status.ID)
	}
	time.Sleep(time.Second) // creation times have whole seconds
	twin := repository("twin", "OrgA")
	e.apply(twin)
	e.condition(twin, v1beta1.ConditionStalled, "True", v1beta1.ReasonNotOwner)
	e.delete(twin)
	e.gone(twin)
	e.delete(b)
	e.gone(b)
	left, err := e.GARM.ListRepositories(e.ctx)
	if err != nil || len(left) != 1 || left[0].ID != a.Status.ID {
		t.Errorf("the server has %+v, %v; only %s was to stay", left, err, a.Status.ID)
	}
}

// OP-18: a pool made by hand is adopted only by its id.
func TestOP18Adoption(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base...)
	e.ready(base...)
	org := e.Organization(stack.Org)
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(org), org); err != nil {
		t.Fatal(err)
	}
	hand := e.byHand(org, "fresh")
	fresh := e.Pool("fresh")
	e.apply(fresh)
	e.ready(fresh)
	if fresh.Status.ID == hand.ID {
		t.Fatal("a pool made by hand was taken over although nobody named it")
	}
	taken := e.Pool("taken")
	taken.Annotations = map[string]string{v1beta1.AnnotationAdoptPoolID: hand.ID}
	e.apply(taken)
	e.ready(taken)
	if taken.Status.ID != hand.ID || len(e.pools()) != 2 {
		t.Errorf("the Pool has id %s, not %s; the server has %d pools", taken.Status.ID, hand.ID, len(e.pools()))
	}
	e.delete(fresh)
	e.gone(fresh)
	if left := e.pools(); len(left) != 1 || left[0].ID != hand.ID {
		t.Errorf("the server has %+v", left)
	}
}

// OP-50: the operator starts while GARM is down, says so, and goes on.
func TestOP50ServerComesLater(t *testing.T) {
	t.Parallel()
	e := setup(t)
	if err := e.StopGARM(); err != nil {
		t.Fatal(err)
	}
	e.run()
	objects := append(e.Base(), e.Pool("p"))
	e.apply(objects...)
	e.condition(e.Organization(stack.Org), v1beta1.ConditionReady, "False", v1beta1.ReasonGarmUnavailable)
	if err := e.StartGARM(e.ctx); err != nil {
		t.Fatal(err)
	}
	e.ready(objects...)
}

// OP-47: without URLs, or with the placeholders that another operator has set, no pool is made, and the Pool says why.
func TestOP47URLsMissing(t *testing.T) {
	t.Parallel()
	for name, placeholders := range map[string]bool{"none": false, "placeholders": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setup(t)
			if placeholders {
				e.initialise()
				url := func(of string) *string { u := "https://initial." + of + ".garm.local"; return &u }
				if _, err := e.GARM.UpdateController(e.ctx, garm.UpdateControllerParams{
					MetadataURL: url("metadata"), CallbackURL: url("callback"), WebhookURL: url("webhook"),
				}); err != nil {
					t.Fatal(err)
				}
			}
			e.run()
			var rest []client.Object
			var config client.Object
			for _, o := range append(e.Base(), e.Pool("p")) {
				if _, ok := o.(*v1beta1.GarmServerConfig); ok {
					config = o
					continue
				}
				rest = append(rest, o)
			}
			e.apply(rest...)
			e.condition(e.Pool("p"), v1beta1.ConditionReady, "False", v1beta1.ReasonControllerURLsMissing)
			if n := e.Proxy.Counts().Of("POST", "/organizations/{id}/pools", 0); n > 0 {
				t.Errorf("%d creates of a pool whose runners could not report back", n)
			}
			e.apply(config)
			e.ready(append(rest, config)...)
		})
	}
}

type secret = corev1.Secret
