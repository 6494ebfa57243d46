package admission_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

func image(namespace, name string) *v1beta1.Image {
	return &v1beta1.Image{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta1.ImageSpec{Tag: "ubuntu-24.04"}}
}

// An Image that a Pool of its namespace uses is kept, and whoever wants to delete it is told which Pool.
func usedImage(t *testing.T) {
	ns, elsewhere := namespace(t), namespace(t)
	used, unused, same := image(ns, "ubuntu"), image(ns, "debian"), image(elsewhere, "ubuntu")
	user := pool(ns, "user")
	create(t, used, unused, same, user)
	refusesDeletion(t, used, "user")
	for _, i := range []*v1beta1.Image{unused, same} {
		if err := kube.Delete(t.Context(), i); err != nil {
			t.Errorf("%s/%s: %v", i.Namespace, i.Name, err)
		}
	}
	if err := edit(t, user, func(p *v1beta1.Pool) { p.Spec.ImageName = "debian" }); err != nil {
		t.Fatal(err)
	}
	if err := kube.Delete(t.Context(), used); err != nil {
		t.Errorf("after the Pool has another one: %v", err)
	}
}

// Pools that are being deleted do not count, however long that takes them.
func imageWithPools(t *testing.T) {
	ns := namespace(t)
	used, user := image(ns, "ubuntu"), pool(ns, "user")
	user.Finalizers = []string{v1beta1.FinalizerPool}
	create(t, used, user)
	refusesDeletion(t, used, "user")
	for _, o := range []client.Object{user, used} {
		if err := kube.Delete(t.Context(), o); err != nil {
			t.Errorf("%s: %v", o.GetName(), err)
		}
	}
}

// What kubectl delete pools,images --all does.
func allImages(t *testing.T) {
	ns := namespace(t)
	create(t, image(ns, "ubuntu"), image(ns, "debian"), pool(ns, "user"))
	for _, o := range []client.Object{&v1beta1.Pool{}, &v1beta1.Image{}} {
		if err := kube.DeleteAllOf(t.Context(), o, client.InNamespace(ns)); err != nil {
			t.Errorf("%T: %v", o, err)
		}
	}
	var left v1beta1.ImageList
	if err := kube.List(t.Context(), &left, client.InNamespace(ns)); err != nil || len(left.Items) > 0 {
		t.Errorf("%d Images are left: %v", len(left.Items), err)
	}
}

// The deletion of a namespace is not held up, in whatever order it goes.
func imageOfNamespace(t *testing.T) {
	ns := namespace(t)
	used := image(ns, "ubuntu")
	create(t, used, pool(ns, "user"))
	refusesDeletion(t, used, "user")
	if err := kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	if err := kube.Delete(t.Context(), used); err != nil {
		t.Errorf("the namespace is going: %v", err)
	}
}

func refusesDeletion(t *testing.T, i *v1beta1.Image, user string) {
	t.Helper()
	for name, options := range map[string][]client.DeleteOption{"dry-run": {client.DryRunAll}, "delete": nil} {
		err := kube.Delete(t.Context(), i, options...)
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), fmt.Sprintf("%q", user)) {
			t.Errorf("%s: not refused because of %s: %v", name, user, err)
		}
	}
}
