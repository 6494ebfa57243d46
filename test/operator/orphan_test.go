package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// deletionPolicy Orphan: resources of every kind go at once, in any order, also while the server is away; the server
// keeps everything as it was, and an event says so.
func TestOrphanedObjectsStay(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]bool{"server there": false, "server away": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setup(t).run()
			endpoint, credential, enterprise, organization, repository, pool := e.oneOfEach()
			orphan := v1beta1.DeletionPolicyOrphan
			edit(e, endpoint, func(o *v1beta1.GitHubEndpoint) { o.Spec.DeletionPolicy = orphan })
			edit(e, credential, func(o *v1beta1.GitHubCredential) { o.Spec.DeletionPolicy = orphan })
			edit(e, enterprise, func(o *v1beta1.Enterprise) { o.Spec.DeletionPolicy = orphan })
			edit(e, organization, func(o *v1beta1.Organization) { o.Spec.DeletionPolicy = orphan })
			edit(e, repository, func(o *v1beta1.Repository) { o.Spec.DeletionPolicy = orphan })
			edit(e, pool, func(o *v1beta1.Pool) { o.Spec.DeletionPolicy = orphan })
			all := []client.Object{endpoint, credential, enterprise, organization, repository, pool}
			e.ready(all...)
			before := e.Proxy.Counts()
			if away {
				e.Proxy.Inject(garmproxy.Fault{Drop: true})
				e.Proxy.CloseStreams()
			}
			for _, o := range shuffled(t, all) {
				e.delete(o)
			}
			e.gone(all...)
			if n := e.Proxy.Counts().Since(before).Writes(); n > 0 {
				t.Errorf("%d writes:\n%s", n, e.Proxy.Counts().Since(before))
			}
			left := e.pools()
			if len(left) != 1 || left[0].ID != pool.Status.ID || !left[0].Enabled || left[0].MinIdleRunners != uint(pool.Spec.MinIdleRunners) {
				t.Errorf("the server has %+v", left)
			}
			var events corev1.EventList
			if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
				t.Fatal(err)
			}
			told := map[string]bool{}
			for _, v := range events.Items {
				if strings.Contains(v.Message, "released") && strings.Contains(v.Message, "deletionPolicy is Orphan") {
					told[v.InvolvedObject.Kind] = true
				}
			}
			if len(told) != len(all) {
				t.Errorf("events tell of %v only", told)
			}
		})
	}
}

// deletionPolicy Orphan with what never came to be, with a pause, and beside resources that are deleted: nothing is held up.
func TestOrphanedBesideOthers(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	lonely, paused, kept := e.Pool("lonely"), e.Pool("paused"), e.Pool("kept")
	lonely.Spec.ImageName = "missing"
	paused.Annotations = map[string]string{v1beta1.AnnotationPaused: "true"}
	for _, p := range []*v1beta1.Pool{lonely, paused, kept} {
		p.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan
	}
	e.apply(append(base, lonely, paused, kept)...)
	e.ready(append(base, kept)...)
	e.condition(lonely, v1beta1.ConditionImageReference, "False", v1beta1.ReasonFetchingImageRefFailed)
	e.condition(paused, v1beta1.ConditionPaused, "True", v1beta1.ReasonPaused)
	for _, p := range []*v1beta1.Pool{lonely, paused, kept} {
		e.delete(p)
	}
	e.gone(lonely, paused, kept)
	// The pool that stays holds the organization at the server, for those who want it deleted there.
	org := e.Organization(stack.Org)
	e.delete(org)
	e.condition(org, v1beta1.ConditionReady, "False", v1beta1.ReasonInUse)
	edit(e, org, func(o *v1beta1.Organization) { o.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan })
	e.gone(org)
	if left, err := e.GARM.ListOrganizations(e.ctx); err != nil || len(left) != 1 || len(e.pools()) != 1 {
		t.Errorf("the server has %+v, %v, and %d pools", left, err, len(e.pools()))
	}
	// Whoever comes back takes the organization over, and the pool by its id.
	back := e.Pool("back")
	back.Annotations = map[string]string{v1beta1.AnnotationAdoptPoolID: e.pools()[0].ID}
	back.Spec.Tags = []string{"kept", "linux"}
	e.apply(e.Organization(stack.Org), back)
	e.ready(e.Organization(stack.Org), back)
	if n := len(e.pools()); n != 1 || e.pools()[0].ID != back.Status.ID {
		t.Errorf("the server has %d pools, the Pool has %s", n, back.Status.ID)
	}
}

// OP-26: GitHub refuses the credentials, so that the server keeps the runners. The Pool says so; the annotation, on it or
// on its scope, lets it go all the same.
func TestOP26ForceDelete(t *testing.T) {
	t.Parallel()
	for name, annotate := range map[string]func(*env, *v1beta1.Pool){
		"on the Pool": func(e *env, pool *v1beta1.Pool) { edit(e, pool, force[*v1beta1.Pool]) },
		"on its scope": func(e *env, _ *v1beta1.Pool) {
			edit(e, e.Organization(stack.Org), force[*v1beta1.Organization])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, p, pool, names := parked(t, 2, nil)
			p.report(e, names[0], string(garm.RunnerIdle))
			p.report(e, names[1], string(garm.RunnerActive))
			e.GitHub.RevokeToken("ghp_stack")
			e.delete(pool)
			e.eventually(func() error {
				if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
					return err
				}
				m := message(pool)
				if !strings.Contains(m, "waiting for 2 runners: 1 busy with a job, 1 kept by the GARM server") || !strings.Contains(m, v1beta1.AnnotationForceDelete) {
					return fmt.Errorf("message %q", m)
				}
				return nil
			})
			kept, err := e.GARM.ListInstances(e.ctx)
			if err != nil {
				t.Fatal(err)
			}
			annotate(e, pool)
			e.gone(pool)
			e.warnedOf(pool, kept)
			if left, err := e.GARM.ListInstances(e.ctx); err != nil || len(left) > 0 {
				t.Errorf("the server has %+v, %v", left, err)
			}
			if n := len(e.pools()); n > 0 {
				t.Errorf("the server has %d pools", n)
			}
		})
	}
}

func force[O client.Object](o O) {
	o.SetAnnotations(map[string]string{v1beta1.AnnotationForceDelete: "true"})
}

// warnedOf wants an event of an object for the machine of each instance that was removed by force.
func (e *env) warnedOf(obj client.Object, instances []garm.Instance) {
	e.t.Helper()
	e.eventually(func() error {
		var events corev1.EventList
		if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		for _, i := range instances {
			if !slices.ContainsFunc(events.Items, func(v corev1.Event) bool {
				return v.InvolvedObject.UID == obj.GetUID() && v.Reason == mirror.EventForced && strings.Contains(v.Message, i.Name) && strings.Contains(v.Message, i.ProviderID)
			}) {
				return fmt.Errorf("no event names the machine %q of %s", i.ProviderID, i.Name)
			}
		}
		return nil
	})
}

// OP-18: a Pool that waits to adopt what another Pool has goes on as soon as that one has left it.
func TestOP18AdoptedFromAnOrphanedPool(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base...)
	first := e.Pool("first")
	first.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan
	e.apply(first)
	e.ready(first)
	id := first.Status.ID
	heir := e.Pool("heir")
	heir.Annotations = map[string]string{v1beta1.AnnotationAdoptPoolID: id}
	e.apply(heir)
	e.condition(heir, v1beta1.ConditionStalled, "True", v1beta1.ReasonDuplicatePoolFound)
	e.delete(first)
	e.gone(first)
	e.ready(heir)
	if heir.Status.ID != id {
		t.Errorf("the Pool has id %s, not %s", heir.Status.ID, id)
	}
}
