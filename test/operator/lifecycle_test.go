package operator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// oneOfEach applies and returns one resource of each kind that the server mirrors, when all are Ready.
func (e *env) oneOfEach() (*v1beta1.GitHubEndpoint, *v1beta1.GitHubCredential, *v1beta1.Enterprise, *v1beta1.Organization, *v1beta1.Repository, *v1beta1.Pool) {
	e.t.Helper()
	endpoint, credential, enterprise, organization, repository, pool := e.mirrors()
	base := e.Base()
	e.apply(base[0], base[1], base[2], base[6], endpoint, credential, enterprise, organization, repository, pool)
	e.ready(endpoint, credential, enterprise, organization, repository, pool)
	return endpoint, credential, enterprise, organization, repository, pool
}

// What was edited at the server past the operator is put back, for every kind and either generation of server, be it that
// the operator sees it or that it was down meanwhile.
func TestEditedAtTheServer(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
		e := setup(t)
		e.Proxy.Speak(dialect)
		e.run()
		_, credential, enterprise, organization, repository, pool := e.oneOfEach()
		balanced := v1beta1.PoolBalancerTypeRoundRobin // what the server has by itself, so that nothing is sent
		edit(e, enterprise, func(o *v1beta1.Enterprise) { o.Spec.PoolBalancerType = balanced })
		edit(e, organization, func(o *v1beta1.Organization) { o.Spec.PoolBalancerType = balanced })
		edit(e, repository, func(o *v1beta1.Repository) { o.Spec.PoolBalancerType = balanced })
		e.ready(enterprise, organization, repository)
		text, max := "edited", uint(99)
		_, err := e.GARM.CreateCredentials(e.ctx, garm.CreateCredentialsParams{
			Name: "by-hand", Endpoint: stack.EndpointName, AuthType: garm.AuthTypePAT, PAT: &garm.PAT{OAuth2Token: "ghp_hand"},
		})
		if err != nil {
			t.Fatal(err)
		}
		change := func() {
			other := garm.UpdateEntityParams{CredentialsName: "by-hand", PoolBalancerType: garm.BalancerPack}
			_, err1 := e.GARM.UpdateEndpoint(e.ctx, stack.EndpointName, garm.UpdateEndpointParams{Description: &text})
			_, err2 := e.GARM.UpdateCredentials(e.ctx, uint(credential.Status.ID), garm.UpdateCredentialsParams{Description: &text})
			_, err3 := e.GARM.UpdatePool(e.ctx, pool.Status.ID, garm.UpdatePoolParams{MaxRunners: &max})
			_, err4 := e.GARM.UpdateEnterprise(e.ctx, enterprise.Status.ID, other)
			_, err5 := e.GARM.UpdateOrganization(e.ctx, organization.Status.ID, other)
			_, err6 := e.GARM.UpdateRepository(e.ctx, repository.Status.ID, other)
			if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
				t.Fatal(err)
			}
		}
		putBack := func(before garmproxy.Counts) {
			edited := func(o garm.Entity) bool {
				return o.CredentialsName == "by-hand" || o.PoolBalancerType != garm.BalancerRoundRobin
			}
			e.eventually(func() error {
				endpoint, err1 := e.GARM.GetEndpoint(e.ctx, stack.EndpointName)
				credentials, err2 := e.GARM.GetCredentials(e.ctx, uint(credential.Status.ID))
				p, err3 := e.GARM.GetPool(e.ctx, pool.Status.ID)
				ent, err4 := e.GARM.GetEnterprise(e.ctx, enterprise.Status.ID)
				org, err5 := e.GARM.GetOrganization(e.ctx, organization.Status.ID)
				repo, err6 := e.GARM.GetRepository(e.ctx, repository.Status.ID)
				if endpoint.Description == text || credentials.Description == text || p.MaxRunners == max ||
					edited(ent.Entity) || edited(org.Entity) || edited(repo.Entity) {
					return fmt.Errorf("not put back: %+v %+v %+v %+v %+v %+v", endpoint, credentials.Description, p.MaxRunners, ent.Entity, org.Entity, repo.Entity)
				}
				return errors.Join(err1, err2, err3, err4, err5, err6)
			})
			if puts := e.Proxy.Counts().Since(before); puts.Of("PUT", "", 0) != 6 {
				t.Errorf("%d PUTs for six edits:\n%s", puts.Of("PUT", "", 0), puts)
			}
		}

		before := e.Proxy.Counts()
		change()
		putBack(before)

		e.stop()
		change()
		before = e.Proxy.Counts()
		e.run()
		putBack(before)
	})
}

// OP-14, OP-24: what was deleted at the server past the operator comes back, each object once, after a GET that found
// nothing.
func TestOP24EverythingDeletedAtTheServer(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	endpoint, credential, enterprise, organization, repository, pool := e.oneOfEach()
	before := e.Proxy.Counts()
	ids := []string{pool.Status.ID, repository.Status.ID, organization.Status.ID, enterprise.Status.ID}
	err := errors.Join(
		e.GARM.DeletePool(e.ctx, ids[0]), e.GARM.DeleteRepository(e.ctx, ids[1]), e.GARM.DeleteEnterprise(e.ctx, ids[3]),
	)
	if err != nil {
		t.Fatal(err)
	}
	// The pool may be back already, and then holds the organization.
	if err := e.GARM.DeleteOrganization(e.ctx, ids[2]); err != nil && garm.KindOf(err) != garm.KindInvalid {
		t.Fatal(err)
	}
	e.eventually(func() error {
		for _, o := range []client.Object{enterprise, repository, pool} {
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
		}
		if enterprise.Status.ID == ids[3] || repository.Status.ID == ids[1] || pool.Status.ID == ids[0] {
			return fmt.Errorf("not created again: %v %v %v", enterprise.Status.ID, repository.Status.ID, pool.Status.ID)
		}
		return nil
	})
	e.ready(endpoint, credential, enterprise, organization, repository, pool)
	counts := e.Proxy.Counts().Since(before)
	for _, c := range []struct{ get, post string }{
		{"/enterprises/{id}", "/enterprises"}, {"/repositories/{id}", "/repositories"}, {"/pools/{id}", "/organizations/{id}/pools"},
	} {
		if counts.Of("GET", c.get, 404) < 1 {
			t.Errorf("no GET of %s said that it is gone:\n%s", c.get, counts)
		}
		if n := counts.Of("POST", c.post, 200); n != 1 {
			t.Errorf("%d POSTs to %s:\n%s", n, c.post, counts)
		}
	}
	if n := len(e.pools()); n != 1 {
		t.Errorf("the server has %d pools", n)
	}
}

// OP-22: everything goes in whatever order it is deleted in, the Image and the Secrets first as well as last.
func TestOP22DeletedInAnyOrder(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			e := setup(t).run()
			endpoint, credential, enterprise, organization, repository, pool := e.oneOfEach()
			base := e.Base()
			all := shuffled(t, []client.Object{
				endpoint, credential, enterprise, organization, repository, pool, base[0], base[1], base[2], base[6],
			})
			for _, o := range all {
				e.delete(o)
			}
			e.gone(all...)
			counts := e.Proxy.Counts()
			if n := counts.Of("DELETE", "", 200) + counts.Of("DELETE", "", 204); n != 6 {
				t.Errorf("%d deletions of 6 objects:\n%s", n, counts)
			}
		})
	}
}

// Two resources of one natural key, in two namespaces that the operator watches: the older owns the object at the server,
// the other says so, and neither changes nor deletes it.
func TestOP15TwoOwners(t *testing.T) {
	t.Parallel()
	e := setup(t)
	second := e.namespace + "-b"
	if err := e.Kube.Create(e.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: second}}); err != nil {
		t.Fatal(err)
	}
	e.config.Operator.WatchNamespace = e.namespace + "," + second
	e.run()
	endpoint, credential, enterprise, organization, repository, _ := e.oneOfEach()
	time.Sleep(time.Second) // creation times have whole seconds
	before := e.Proxy.Counts()
	there := func(o client.Object) client.Object {
		twin := o.DeepCopyObject().(client.Object)
		twin.SetNamespace(second)
		twin.SetResourceVersion("")
		twin.SetUID("")
		twin.SetFinalizers(nil)
		twin.SetAnnotations(nil)
		twin.SetCreationTimestamp(metav1.Time{})
		return twin
	}
	twins := []client.Object{there(endpoint), there(credential), there(enterprise), there(organization), there(repository)}
	twins[0].(*v1beta1.GitHubEndpoint).Spec.Description = "another"
	twins[1].(*v1beta1.GitHubCredential).Spec.Description = "another"
	twins[2].(*v1beta1.Enterprise).Spec.PoolBalancerType = garm.BalancerPack
	twins[3].(*v1beta1.Organization).Spec.PoolBalancerType = garm.BalancerPack
	twins[4].(*v1beta1.Repository).Spec.PoolBalancerType = garm.BalancerPack
	e.apply(there(e.Secret(stack.TokenSecret, "ghp_other")), there(e.Secret(stack.WebhookSecret, "another-hook-secret")))
	e.apply(twins...)
	for _, o := range twins {
		e.condition(o, v1beta1.ConditionStalled, "True", v1beta1.ReasonNotOwner)
	}
	for i := len(twins) - 1; i >= 0; i-- {
		e.delete(twins[i])
		e.gone(twins[i])
	}
	if n := e.Proxy.Counts().Since(before).Writes(); n > 0 {
		t.Errorf("%d writes for resources that own nothing:\n%s", n, e.Proxy.Counts().Since(before))
	}
	e.ready(endpoint, credential, enterprise, organization, repository)
}

// OP-16: two Pools that are equal but for their names get a pool each, as do two whose Images have the same tag.
func TestOP16EqualPools(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pools := e.EqualPools(2)
	third := e.Pool("third")
	third.Spec.Tags, third.Spec.ImageName = []string{"linux"}, "same"
	pools = append(pools, third)
	e.apply(append(e.Base(), e.Image("same", "ubuntu-24.04"))...)
	e.apply(pools...)
	e.ready(pools...)
	ids := map[string]bool{}
	for _, p := range pools {
		ids[p.(*v1beta1.Pool).Status.ID] = true
	}
	if len(ids) != 3 || len(e.pools()) != 3 {
		t.Errorf("ids %v, %d pools at the server", ids, len(e.pools()))
	}
}
