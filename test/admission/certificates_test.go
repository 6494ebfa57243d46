package admission_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/devcert"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
	"github.com/garm-operator/garm-operator/internal/operator/webhookcert"
)

// quick lets a new authority be used as soon as this API server has learnt of it.
func quick(o *operatorconfig.Operator, options *operatorapp.Options) {
	o.LeaderElection = true
	options.Certificate = func(c *webhookcert.Options) { c.Settle = time.Second }
}

// Certificates and authorities are replaced, one after the other and all at once, while two replicas serve: whoever trusts what the
// API server has been told to trust can call either of them at any time.
func TestRotation(t *testing.T) {
	first := serving(t, quick)
	second := start(t, quick)
	replicas := []*replica{first, second}
	for _, r := range replicas {
		eventually(t, func(ctx context.Context) error { _, err := shown(ctx, r, trusted(t)); return err })
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- callAll(ctx, replicas) }()

	for _, step := range []struct {
		name   string
		change func(*corev1.Secret)
	}{
		{"the certificate expires", func(s *corev1.Secret) { delete(s.Data, "tls.crt") }},
		{"the authority expires", func(s *corev1.Secret) { delete(s.Data, "ca.key") }},
		{"the Secret is wiped", func(s *corev1.Secret) { s.Data = nil }},
	} {
		before, err := shown(ctx, first, trusted(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := edit(t, certificateSecret(t), step.change); err != nil {
			t.Fatal(err)
		}
		for _, r := range replicas {
			eventually(t, func(ctx context.Context) error {
				now, err := shown(ctx, r, trusted(t))
				if err == nil && now.Equal(before) {
					err = fmt.Errorf("%s: the old certificate is still shown", step.name)
				}
				return err
			})
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// callAll calls replicas directly and through the API server until ctx ends, and returns the first failure.
func callAll(ctx context.Context, replicas []*replica) error {
	bad := pool("default", "bad", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = "{bad}" })
	for n := 0; ctx.Err() == nil; n++ {
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		if err := kube.Get(ctx, client.ObjectKey{Name: webhookinstall.ConfigurationName}, hooks); err != nil {
			return ignoreEnd(ctx, err)
		}
		for i, r := range replicas {
			if _, err := shown(ctx, r, hooks.Webhooks[0].ClientConfig.CABundle); err != nil {
				return ignoreEnd(ctx, fmt.Errorf("call %d of replica %d: %w", n, i, err))
			}
		}
		if err := kube.Create(ctx, bad.DeepCopy(), client.DryRunAll); !apierrors.IsInvalid(err) {
			return ignoreEnd(ctx, fmt.Errorf("call %d through the API server: %w", n, err))
		}
	}
	return nil
}

func ignoreEnd(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// shown returns the certificate that a replica shows to a caller who trusts some authorities.
func shown(ctx context.Context, r *replica, authorities []byte) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, errors.New("no authority is trusted")
	}
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("localhost", strconv.Itoa(r.port)))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// trusted returns what the API server is told to trust.
func trusted(t *testing.T) []byte {
	t.Helper()
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := kube.Get(t.Context(), client.ObjectKey{Name: webhookinstall.ConfigurationName}, hooks); err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks.Webhooks[1:] {
		if !bytes.Equal(h.ClientConfig.CABundle, hooks.Webhooks[0].ClientConfig.CABundle) {
			t.Fatalf("%s trusts others than %s", h.Name, hooks.Webhooks[0].Name)
		}
	}
	return hooks.Webhooks[0].ClientConfig.CABundle
}

func certificateSecret(t *testing.T) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "webhook-server-cert"}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// What others write into the calls is put right: a manifest that is applied anew trusts nobody.
func TestManifestsAppliedAnew(t *testing.T) {
	r := serving(t)
	install(t, r.url())
	eventually(t, func(ctx context.Context) error { _, err := shown(ctx, r, trusted(t)); return err })
	waitServing(t)
}

// Certificates in files, as cert-manager mounts them, are shown as they are, and nothing is written into the calls.
func TestCertificatesInFiles(t *testing.T) {
	authority, err := devcert.NewAuthority("files")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	issue := func() {
		pair, err := authority.Issue("localhost")
		if err != nil {
			t.Fatal(err)
		}
		certificate, key, err := devcert.EncodePair(pair)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	issue()
	r := start(t, func(o *operatorconfig.Operator, _ *operatorapp.Options) {
		o.WebhookCertDir, o.WebhookCertificates = dir, "auto"
	})
	install(t, r.url())
	var first *x509.Certificate
	eventually(t, func(ctx context.Context) (err error) { first, err = shown(ctx, r, authority.PEM()); return err })
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhookinstall.ConfigurationName}}
	err = edit(t, hooks, func(h *admissionregistrationv1.ValidatingWebhookConfiguration) {
		for i := range h.Webhooks {
			h.Webhooks[i].ClientConfig.CABundle = authority.PEM()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	waitServing(t)
	issue()
	eventually(t, func(ctx context.Context) error {
		second, err := shown(ctx, r, trusted(t))
		if err == nil && second.Equal(first) {
			err = errors.New("the old certificate is still shown")
		}
		return err
	})
	if !bytes.Equal(trusted(t), authority.PEM()) {
		t.Error("the operator has written into the calls")
	}
}
