package install_test

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// deleteNamespace asks for the end of a namespace and of all that is in it.
func (i *installation) deleteNamespace(name string) {
	i.t.Helper()
	if err := i.Kube.Delete(i.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		i.t.Fatal(err)
	}
}

// finished waits until a namespace is gone.
func (i *installation) finished(name string) {
	i.t.Helper()
	i.eventually(func() error {
		namespace := &corev1.Namespace{}
		err := i.Kube.Get(i.ctx, client.ObjectKey{Name: name}, namespace)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("the namespace %s is still there: %+v", name, namespace.Status.Conditions))
	})
}

// waitsForFinalizers waits until the cluster says that nothing but finalizers keeps a namespace: all else in it is gone.
func (i *installation) waitsForFinalizers(name string) {
	i.t.Helper()
	i.eventually(func() error {
		namespace := &corev1.Namespace{}
		if err := i.Kube.Get(i.ctx, client.ObjectKey{Name: name}, namespace); err != nil {
			return err
		}
		found := false
		for _, c := range namespace.Status.Conditions {
			switch {
			case c.Type == corev1.NamespaceFinalizersRemaining:
				found = c.Status == corev1.ConditionTrue
			case c.Type == corev1.NamespaceContentRemaining: // what the finalizers keep is content
			case c.Status == corev1.ConditionTrue:
				return fmt.Errorf("%s: %s", c.Type, c.Message)
			}
		}
		if !found {
			return errors.New("nothing is said of finalizers")
		}
		return nil
	})
}

// takeFinalizersOff does what docs/uninstall.md says of an operator that is gone for good.
func (i *installation) takeFinalizersOff(namespace string) {
	i.t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for _, kind := range access.Resources() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind.Kind + "List"))
		if err := i.Kube.List(i.ctx, list, client.InNamespace(namespace)); err != nil {
			i.t.Fatal(err)
		}
		for n := range list.Items {
			if err := i.Kube.Patch(i.ctx, &list.Items[n], patch); client.IgnoreNotFound(err) != nil {
				i.t.Fatal(err)
			}
		}
	}
}

// clear removes all that is left when an installation's operator has stopped, so that the next test begins with nothing.
func (i *installation) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	i.ctx = ctx
	for _, name := range i.namespaces { // first what has finalizers: a namespace that finds some waits for seconds before it looks again
		if err := i.Kube.DeleteAllOf(ctx, &corev1.PersistentVolumeClaim{}, client.InNamespace(name)); err != nil {
			i.t.Error(err)
		}
		i.eventually(func() error {
			claims := &corev1.PersistentVolumeClaimList{}
			if err := i.Kube.List(ctx, claims, client.InNamespace(name)); err != nil {
				return err
			}
			if n := len(claims.Items); n > 0 {
				return fmt.Errorf("%d volume claims are still there", n)
			}
			return nil
		})
		i.takeFinalizersOff(name)
	}
	for _, name := range i.namespaces {
		err := i.Kube.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if client.IgnoreNotFound(err) != nil {
			i.t.Error(err)
		}
	}
	for _, name := range i.namespaces {
		i.finished(name)
	}
}

// left returns how many pools and entities GARM has.
func (i *installation) left() int {
	i.t.Helper()
	p, err1 := i.GARM.ListPools(i.ctx)
	o, err2 := i.GARM.ListOrganizations(i.ctx)
	r, err3 := i.GARM.ListRepositories(i.ctx)
	e, err4 := i.GARM.ListEnterprises(i.ctx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		i.t.Fatal(err)
	}
	return len(p) + len(o) + len(r) + len(e)
}
