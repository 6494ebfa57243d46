package refs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// A Secret that does not hold what is asked for is waited for; one that could not be read is read again.
func TestRetry(t *testing.T) {
	resource := schema.GroupResource{Resource: "secrets"}
	for name, c := range map[string]struct {
		data  map[string][]byte
		read  error
		again bool
	}{
		"no key":      {data: map[string][]byte{"other": []byte("x")}},
		"empty":       {data: map[string][]byte{"key": nil}},
		"blank":       {data: map[string][]byte{"key": []byte(" \n")}},
		"gone":        {read: apierrors.NewNotFound(resource, "s")},
		"forbidden":   {read: apierrors.NewForbidden(resource, "s", errors.New("no role")), again: true},
		"unavailable": {read: apierrors.NewServiceUnavailable("later"), again: true},
		"broken":      {read: fmt.Errorf("connection reset"), again: true},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Data: c.data}
			kube := fake.NewClientBuilder().WithObjects(secret).Build()
			live := interceptor.NewClient(kube, interceptor.Funcs{
				Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					if c.read != nil {
						return c.read
					}
					return w.Get(ctx, key, obj, opts...)
				},
			})
			found, err := refs.FindSecret(t.Context(), kube, "ns", &v1beta1.SecretRef{Name: "s", Key: "key"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = found.Read(t.Context(), live)
			if err == nil {
				t.Fatal("read")
			}
			if got := refs.Retry(err) > 0; got != c.again {
				t.Errorf("%v: again is %t", err, got)
			}
		})
	}
	_, err := refs.FindSecret(t.Context(), fake.NewFakeClient(), "ns", &v1beta1.SecretRef{Name: "none", Key: "key"})
	if err == nil || refs.Retry(err) != 0 {
		t.Errorf("an absent Secret: %v", err)
	}
}
