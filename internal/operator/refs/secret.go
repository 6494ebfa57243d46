package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		return nil, absent("no secret is named")
	}
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	name := client.ObjectKey{Namespace: namespace, Name: ref.Name}
	if err := c.Get(ctx, name, meta); err != nil {
		return nil, fmt.Errorf("secret %q: %w", ref.Name, err)
	}
	return &Secret{ref: *ref, name: name, marker: fmt.Sprintf("%s/%s/%s", meta.GetUID(), meta.GetResourceVersion(), ref.Key)}, nil
}

// readRetry is when a Secret is read again that could not be read for a reason that passes without a change of it.
const readRetry = 10 * time.Second

// Retry says when to look again after FindSecret or Read has failed: 0 where a change of the Secret is what has to come.
func Retry(err error) time.Duration {
	var absent *absentError
	if errors.As(err, &absent) || apierrors.IsNotFound(err) {
		return 0
	}
	return readRetry
}

// absentError says that a Secret does not hold what is asked for.
type absentError struct{ message string }

func (e *absentError) Error() string { return e.message }

func absent(format string, args ...any) error { return &absentError{fmt.Sprintf(format, args...)} }

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
		return nil, absent("secret %q has no key %q", s.name.Name, s.ref.Key)
	}
	if len(bytes.TrimSpace(value)) == 0 {
		return nil, absent("key %q of secret %q is empty", s.ref.Key, s.name.Name)
	}
	s.marker = fmt.Sprintf("%s/%s/%s", secret.UID, secret.ResourceVersion, s.ref.Key)
	return value, nil
}
