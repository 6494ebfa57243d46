package operator_test

import (
	"errors"
	"fmt"
	"slices"
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

// OP-19, OP-24: whatever a resource stood for was deleted at the server before, or the server answers its deletion with 404: it
// goes, other finalizers or not, and nothing fails.
func TestOP19EveryKindIsGone(t *testing.T) {
	t.Parallel()
	for how, byHand := range map[string]bool{"deleted by hand": true, "answered 404": false} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
				e := setup(t)
				e.Proxy.Speak(dialect)
				e.run()
				k := e.readyKinds()
				e.stop()
				if byHand {
					if err := errors.Join(
						e.GARM.DeletePool(e.ctx, k.pool.Status.ID), e.GARM.DeleteRepository(e.ctx, k.repository.Status.ID),
						e.GARM.DeleteOrganization(e.ctx, k.organization.Status.ID), e.GARM.DeleteEnterprise(e.ctx, k.enterprise.Status.ID),
						e.GARM.DeleteCredentials(e.ctx, uint(k.credential.Status.ID)), e.GARM.DeleteEndpoint(e.ctx, stack.EndpointName),
					); err != nil {
						t.Fatal(err)
					}
				} else {
					e.Proxy.Inject(garmproxy.Fault{Method: "DELETE", Late: true, Status: 404, Body: `{"error":"Not Found","details":"not found"}`})
				}
				for _, o := range shuffled(t, k.objects()) {
					edit(e, o, func(o client.Object) { o.SetFinalizers(append(o.GetFinalizers(), metav1.FinalizerDeleteDependents)) })
					e.delete(o)
				}
				e.run()
				e.eventually(func() (err error) {
					for _, o := range k.objects() {
						err = errors.Join(err, e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o))
						if f := o.GetFinalizers(); !slices.Equal(f, []string{metav1.FinalizerDeleteDependents}) {
							err = errors.Join(err, fmt.Errorf("%T has the finalizers %v: %s", o, f, message(o.(v1beta1.Conditioned))))
						}
					}
					return err
				})
				e.nothingLeft()
				var events corev1.EventList
				if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
					t.Fatal(err)
				}
				for _, v := range events.Items {
					if v.Type == corev1.EventTypeWarning && v.LastTimestamp.After(k.pool.DeletionTimestamp.Time) {
						t.Errorf("told of %s: %s: %s", v.InvolvedObject.Kind, v.Reason, v.Message)
					}
				}
				for _, o := range k.objects() {
					edit(e, o, func(o client.Object) { o.SetFinalizers(nil) })
				}
				e.gone(k.objects()...)
			})
		})
	}
}

// OP-20: what never got to the server goes without a call that deletes, whatever it waited for.
func TestOP20DeletedBeforeCreated(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	k := e.kinds()
	k.endpoint.Spec.CACertBundleSecretRef = &v1beta1.SecretRef{Name: "missing", Key: "ca"}
	base := e.Base()
	e.apply(base[2])
	e.ready(base[2])
	e.apply(k.objects()...)
	for _, o := range k.objects()[:5] {
		e.condition(o, v1beta1.ConditionWebhookSecretReference, "False", v1beta1.ReasonFetchingWebhookSecretRefFailed)
	}
	e.condition(k.pool, v1beta1.ConditionReady, "False", v1beta1.ReasonScopeRefNotReady)
	for _, o := range shuffled(t, k.objects()) {
		e.delete(o)
	}
	e.gone(k.objects()...)
	if n := e.Proxy.Counts().Of("DELETE", "", 0); n > 0 {
		t.Errorf("%d DELETEs were sent:\n%s", n, e.Proxy.Counts())
	}
}

// OP-20: what is deleted while the server works on its create leaves nothing there.
func TestOP20DeletedWhileCreated(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	base := e.Base()
	e.apply(base[0], base[1], base[2], base[6])
	e.ready(base[2])
	for i := range e.kinds().objects() {
		k := e.kinds()
		all := k.objects()
		if i > 0 {
			e.apply(all[:i]...)
			e.ready(all[:i]...)
		}
		posts := func() int {
			return e.Proxy.Counts().Of("POST", "", 0) - e.Proxy.Counts().Of("POST", "/auth/login", 0)
		}
		before := posts()
		slow := e.Proxy.Inject(garmproxy.Fault{Method: "POST", Delay: time.Second})
		e.apply(all[i])
		e.eventually(func() error {
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(all[i]), all[i]); err != nil {
				return err
			}
			if len(all[i].GetFinalizers()) == 0 {
				return fmt.Errorf("%T has no finalizer yet", all[i])
			}
			return nil
		})
		for _, o := range all[:i+1] {
			e.delete(o)
		}
		e.gone(all[:i+1]...)
		slow()
		if n := posts() - before; n > 1 {
			t.Errorf("%T: %d creates", all[i], n)
		}
		e.nothingLeft()
	}
}

// nothingLeft checks that the server has none of what kinds returns.
func (e *env) nothingLeft() {
	e.t.Helper()
	pools, err1 := e.GARM.ListPools(e.ctx)
	enterprises, err2 := e.GARM.ListEnterprises(e.ctx)
	organizations, err3 := e.GARM.ListOrganizations(e.ctx)
	repositories, err4 := e.GARM.ListRepositories(e.ctx)
	credentials, err5 := e.GARM.ListCredentials(e.ctx)
	_, err6 := e.GARM.GetEndpoint(e.ctx, stack.EndpointName)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil || !garm.IsNotFound(err6) {
		e.t.Errorf("%v; the endpoint: %v", err, err6)
	}
	if n := len(pools) + len(enterprises) + len(organizations) + len(repositories) + len(credentials); n > 0 {
		e.t.Errorf("left at the server: %+v %+v %+v %+v %+v", pools, enterprises, organizations, repositories, credentials)
	}
}
