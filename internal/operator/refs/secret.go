package refs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Secret is a key of a Secret that a resource refers to. Its metadata come from the cache; its value is read when asked
// for, from the API server, and not kept.
type Secret struct {
	ref    v1beta1.SecretRef
	name   client.ObjectKey
	marker string
}

// FindSecret looks a Secret up in the cache of metadata.
func FindSecret(ctx context.Context, c client.Reader, namespace string, ref *v1beta1.SecretRef) (*Secret, error) {
	if !ref.IsSet() {
		return nil, fmt.Errorf("no secret is named")
	}
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	name := client.ObjectKey{Namespace: namespace, Name: ref.Name}
	if err := c.Get(ctx, name, meta); err != nil {
		return nil, fmt.Errorf("secret %q: %w", ref.Name, err)
	}
	return &Secret{ref: *ref, name: name, marker: fmt.Sprintf("%s/%s/%s", meta.GetUID(), meta.GetResourceVersion(), ref.Key)}, nil
}

// Marker identifies the version of the Secret and the key without telling anything of the value.
func (s *Secret) Marker() string { return s.marker }

// Read returns the value, which is not empty.
func (s *Secret) Read(ctx context.Context, live client.Reader) ([]byte, error) {
	secret := &corev1.Secret{}
	if err := live.Get(ctx, s.name, secret); err != nil {
		return nil, fmt.Errorf("secret %q: %w", s.name.Name, err)
	}
	value, ok := secret.Data[s.ref.Key]
	if !ok {
		return nil, fmt.Errorf("secret %q has no key %q", s.name.Name, s.ref.Key)
	}
	if len(value) == 0 {
		return nil, fmt.Errorf("key %q of secret %q is empty", s.ref.Key, s.name.Name)
	}
	s.marker = fmt.Sprintf("%s/%s/%s", secret.UID, secret.ResourceVersion, s.ref.Key)
	return value, nil
}
