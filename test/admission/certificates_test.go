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
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
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

// settle is how long API servers have to learn of a new authority in TestRotation: this one may be slow.
const settle = 5 * time.Second

// pace is the pause between calls that never end: far shorter than any step of a rotation, long enough to leave the machine to
// those who serve them.
const pace = 20 * time.Millisecond

// rotating is quick for a test that calls all the time.
func rotating(o *operatorconfig.Operator, options *operatorapp.Options) {
	o.LeaderElection = true
	options.Certificate = func(c *webhookcert.Options) { c.Settle = settle }
}

// Certificates and authorities are replaced, one after the other and all at once, while two replicas serve. No call fails meanwhile,
// neither of admission nor of conversion, nor of a caller who trusts what the API server was told to trust a while ago.
func TestRotation(t *testing.T) {
	first := serving(t, rotating)
	second := start(t, rotating, func(o *operatorconfig.Operator, _ *operatorapp.Options) { o.WebhookURL = first.url() })
	replicas := []*replica{first, second}
	for _, r := range replicas {
		eventually(t, func(ctx context.Context) error { _, err := shown(ctx, r, trusted(t)); return err })
	}
	converted := pool(namespace(t), "converted")
	create(t, converted)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls errgroup.Group
	calls.Go(func() error { return callAll(ctx, replicas) })
	calls.Go(func() error { return callAPIServer(ctx, client.ObjectKeyFromObject(converted)) })

	wipe := func(s *corev1.Secret) { s.Data = nil }
	for _, step := range []struct {
		name   string
		change func() error
	}{
		{"the certificate expires", func() error {
			return edit(t, certificateSecret(t), func(s *corev1.Secret) { delete(s.Data, "tls.crt") })
		}},
		{"the authority expires", func() error {
			return edit(t, certificateSecret(t), func(s *corev1.Secret) { delete(s.Data, "ca.key") })
		}},
		{"the Secret is wiped twice, before any replica can have changed over", func() error {
			if err := edit(t, certificateSecret(t), wipe); err != nil {
				return err
			}
			eventually(t, func(context.Context) error {
				if len(certificateSecret(t).Data) == 0 {
					return errors.New("there is no certificate yet")
				}
				return nil
			})
			return edit(t, certificateSecret(t), wipe)
		}},
		{"the Secret is deleted", func() error { return kube.Delete(t.Context(), certificateSecret(t)) }},
	} {
		before, err := shown(ctx, first, trusted(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		var now [2]*x509.Certificate
		for i, r := range replicas {
			eventually(t, func(ctx context.Context) (err error) {
				now[i], err = shown(ctx, r, trusted(t))
				if err == nil && (now[i].Equal(before) || i > 0 && !now[i].Equal(now[0])) {
					err = fmt.Errorf("%s: replica %d does not show the new certificate", step.name, i)
				}
				return err
			})
		}
	}
	cancel()
	if err := calls.Wait(); err != nil {
		t.Error(err)
	}
}

// callAll calls replicas directly until ctx ends, and returns the first failure: of a caller who trusts what the API server is told
// to trust now, and of one who has learnt of nothing for half the time that there is.
func callAll(ctx context.Context, replicas []*replica) error {
	old, read := []byte(nil), time.Time{}
	for n := 0; ctx.Err() == nil; n++ {
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		at := time.Now()
		if err := kube.Get(ctx, client.ObjectKey{Name: webhookinstall.ConfigurationName}, hooks); err != nil {
			return ignoreEnd(ctx, err)
		}
		now := hooks.Webhooks[0].ClientConfig.CABundle
		for i, r := range replicas {
			if _, err := shown(ctx, r, now); err != nil && time.Since(at) < settle {
				return ignoreEnd(ctx, fmt.Errorf("call %d of replica %d: %w", n, i, err))
			}
			if old == nil {
				continue
			}
			if _, err := shown(ctx, r, old); err != nil && time.Since(read) < settle {
				return ignoreEnd(ctx, fmt.Errorf("call %d of replica %d, by one who has not learnt for %s: %w", n, i, time.Since(read), err))
			}
		}
		if time.Since(read) > settle/2 {
			old, read = now, at
		}
		time.Sleep(pace)
	}
	return nil
}

// callAPIServer has the API server call for admission and for the conversion of a Pool until ctx ends.
func callAPIServer(ctx context.Context, converted client.ObjectKey) error {
	bad := pool("default", "bad", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = "{bad}" })
	for n := 0; ctx.Err() == nil; n++ {
		if err := kube.Create(ctx, bad.DeepCopy(), client.DryRunAll); !apierrors.IsInvalid(err) {
			return ignoreEnd(ctx, fmt.Errorf("call %d for admission: %w", n, err))
		}
		if err := kube.Get(ctx, converted, &v1alpha1.Pool{}); err != nil {
			return ignoreEnd(ctx, fmt.Errorf("call %d for conversion: %w", n, err))
		}
		time.Sleep(pace)
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

// Two operators that are called by URL do not fight over whom the API server trusts: each looks after the calls that lead to it.
func TestTwoOperatorsByURL(t *testing.T) {
	first := serving(t, quick)
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "other-operator-"}}
	create(t, other)
	second := start(t, quick, func(_ *operatorconfig.Operator, o *operatorapp.Options) { o.LeaderElectionNamespace = other.Name })
	leaves := func(r *replica, url string) {
		t.Helper()
		eventually(t, func(context.Context) error {
			if !strings.Contains(r.log.String(), "--operator-webhook-url: "+url+"/") {
				return errors.New("the operator does not say that it leaves the calls alone")
			}
			return nil
		})
	}
	leaves(second, first.url())
	eventually(t, func(ctx context.Context) error { // it is done, and has a certificate
		s := &corev1.Secret{}
		return kube.Get(ctx, client.ObjectKey{Namespace: other.Name, Name: "webhook-server-cert"}, s)
	})
	if _, err := shown(t.Context(), first, trusted(t)); err != nil {
		t.Errorf("the calls trust another than the one who is called: %v", err)
	}
	install(t, second.url())
	leaves(first, second.url())
	waitServing(t)
	eventually(t, func(ctx context.Context) error { _, err := shown(ctx, second, trusted(t)); return err })
	if told := strings.Count(first.log.String(), "told the API server"); told == 0 {
		t.Error("the first operator has told nobody anything")
	}
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
	if err := webhookinstall.Trust(t.Context(), plane.Config(), authority.PEM()); err != nil {
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
