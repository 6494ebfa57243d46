package lifecycle_test

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// lists returns an empty list of each kind.
func lists() []client.ObjectList {
	return []client.ObjectList{
		&v1beta1.PoolList{}, &v1beta1.RunnerList{}, &v1beta1.ImageList{}, &v1beta1.OrganizationList{}, &v1beta1.RepositoryList{},
		&v1beta1.EnterpriseList{}, &v1beta1.GitHubCredentialList{}, &v1beta1.GitHubEndpointList{}, &v1beta1.GarmServerConfigList{},
	}
}

// fill makes resources of every kind, and waits until all of them stand for something at GARM.
func (e *env) fill() {
	e.t.Helper()
	repo := &v1beta1.Repository{ObjectMeta: e.Organization("road-map").ObjectMeta, Spec: v1beta1.RepositorySpec{
		Owner: "octo-cat", CredentialsRef: e.Organization("").Spec.CredentialsRef, WebhookSecretRef: e.Organization("").Spec.WebhookSecretRef,
	}}
	enterprise := &v1beta1.Enterprise{ObjectMeta: e.Organization("octo-corp").ObjectMeta, Spec: v1beta1.EnterpriseSpec{
		CredentialsRef: e.Organization("").Spec.CredentialsRef, WebhookSecretRef: e.Organization("").Spec.WebhookSecretRef,
	}}
	pool := e.Pool("small")
	pool.Spec.MinIdleRunners = 2
	all := append(e.Base(), repo, enterprise, pool)
	if err := e.Apply(e.ctx, all...); err != nil {
		e.t.Fatal(err)
	}
	if err := e.WaitReady(e.ctx, all...); err != nil {
		e.t.Fatal(err)
	}
	e.until(func() error {
		for _, list := range lists() {
			if err := e.Kube.List(e.ctx, list, client.InNamespace(e.namespace)); err != nil {
				return err
			}
			if n := len(e.items(list)); n == 0 {
				return fmt.Errorf("there is nothing in %T", list)
			}
		}
		return nil
	})
}

func (e *env) items(list client.ObjectList) []client.Object {
	e.t.Helper()
	raw, err := meta.ExtractList(list)
	if err != nil {
		e.t.Fatal(err)
	}
	all := make([]client.Object, len(raw))
	for i, o := range raw {
		all[i] = o.(client.Object)
	}
	return all
}

func (e *env) deleteNamespace() *corev1.Namespace {
	e.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}
	if err := e.Kube.Delete(e.ctx, namespace); err != nil {
		e.t.Fatal(err)
	}
	return namespace
}

// finished waits until the namespace is gone.
func (e *env) finished(namespace *corev1.Namespace) {
	e.t.Helper()
	e.until(func() error {
		err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(namespace), namespace)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("the namespace is still there: %+v", namespace.Status.Conditions))
	})
}

// stuck waits until the cluster says that finalizers keep the namespace.
func (e *env) stuck(namespace *corev1.Namespace) {
	e.t.Helper()
	e.until(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
			return err
		}
		for _, c := range namespace.Status.Conditions {
			if c.Type == corev1.NamespaceFinalizersRemaining && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return errors.New("nothing is said of finalizers")
	})
}

// left counts what GARM has of the namespace.
func (e *env) left() (pools, entities, instances int) {
	e.t.Helper()
	p, err1 := e.GARM.ListPools(e.ctx)
	o, err2 := e.GARM.ListOrganizations(e.ctx)
	r, err3 := e.GARM.ListRepositories(e.ctx)
	n, err4 := e.GARM.ListEnterprises(e.ctx)
	i, err5 := e.GARM.ListInstances(e.ctx)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		e.t.Fatal(err)
	}
	return len(p), len(o) + len(r) + len(n), len(i)
}

// OP-23: a namespace with everything in it finishes while the operator runs, in whatever order things are deleted, and leaves
// nothing at GARM.
func TestOP23Namespace(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.run(e.config(e.Proxy.URL()))
	e.fill()
	e.finished(e.deleteNamespace())
	if pools, entities, instances := e.left(); pools+entities+instances > 0 {
		t.Errorf("%d pools, %d entities and %d instances are left at GARM", pools, entities, instances)
	}
}

// OP-23: without an operator the namespace waits, as docs/uninstall.md says, and goes once an operator runs again.
func TestOP23OperatorComesBack(t *testing.T) {
	t.Parallel()
	e := setup(t)
	operator := e.run(e.config(e.Proxy.URL()))
	e.fill()
	if err := operator.stop(); err != nil {
		t.Fatal(err)
	}
	namespace := e.deleteNamespace()
	e.stuck(namespace)
	e.run(e.config(e.Proxy.URL()))
	e.finished(namespace)
	if pools, entities, instances := e.left(); pools+entities+instances > 0 {
		t.Errorf("%d pools, %d entities and %d instances are left at GARM", pools, entities, instances)
	}
}

// OP-23: where the operator is gone for good, taking the finalizers off, as docs/uninstall.md says, lets the namespace go; GARM
// keeps what it has.
func TestOP23OperatorIsGone(t *testing.T) {
	t.Parallel()
	e := setup(t)
	operator := e.run(e.config(e.Proxy.URL()))
	e.fill()
	if err := operator.stop(); err != nil {
		t.Fatal(err)
	}
	namespace := e.deleteNamespace()
	e.stuck(namespace)
	for _, list := range lists() {
		if err := e.Kube.List(e.ctx, list, client.InNamespace(e.namespace)); err != nil {
			t.Fatal(err)
		}
		for _, object := range e.items(list) {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			if err := e.Kube.Patch(e.ctx, object, patch); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
		}
	}
	e.finished(namespace)
	if pools, entities, instances := e.left(); pools != 1 || entities != 3 || instances != 2 {
		t.Errorf("%d pools, %d entities and %d instances are left at GARM, not 1, 3 and 2", pools, entities, instances)
	}
}
