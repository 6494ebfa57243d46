package webhookcert

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// again is when to look again after another replica was faster.
	again = 200 * time.Millisecond
	// longest bounds a wait, so that a clock that is set does no harm.
	longest = 12 * time.Hour
	// shortest keeps lifetimes of a test from making a loop.
	shortest = 100 * time.Millisecond
)

// Keeper keeps the certificate. Each replica has one; they agree by the Secret's version.
type Keeper struct {
	options Options
	client  client.Client
	watched []*watched
	serving *serving
	// left are the objects of which the log says that they are left to cert-manager. Only Reconcile uses it, one at a time.
	left map[string]bool
}

// New makes a keeper. It does nothing before Start.
func New(config *rest.Config, options Options) (*Keeper, error) {
	o := options.withDefaults()
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make the client for certificates: %w", err)
	}
	k := &Keeper{options: o, client: c, serving: newServing(o.Settle), left: map[string]bool{}}
	objects := []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Secret.Namespace, Name: o.Secret.Name}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: o.Configuration}},
	}
	for _, name := range o.Definitions {
		objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, obj := range objects {
		w, err := watch(config, c, obj)
		if err != nil {
			return nil, err
		}
		k.watched = append(k.watched, w)
	}
	return k, nil
}

// GetCertificate returns the certificate to show, as tls.Config wants it. Until there is one, callers wait.
func (k *Keeper) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.serving.get(hello.Context())
}

// Ready fails until there is a certificate to show.
func (k *Keeper) Ready(*http.Request) error { return k.serving.check() }

// Reconcile brings the Secret, the callers and the certificate that is shown to what they must be.
func (k *Keeper) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	now := time.Now()
	secret := &corev1.Secret{}
	if err := k.watched[0].get(ctx, secret); err != nil {
		if !apierrors.IsNotFound(err) {
			return reconcile.Result{}, err
		}
		return reconcile.Result{RequeueAfter: again}, k.makeSecret(ctx)
	}
	callers, err := k.callers(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	var all []call
	for _, c := range callers {
		all = append(all, c.calls...)
	}
	if err := k.renew(ctx, secret, all, now); err != nil {
		if apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: again}, nil
		}
		return reconcile.Result{}, err
	}
	pair, err := tls.X509KeyPair(secret.Data[serverCert], secret.Data[serverKey])
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read the certificate: %w", err)
	}
	due, err := k.options.renewal(secret.Data)
	if err != nil {
		return reconcile.Result{}, err
	}
	trusted, err := k.inject(ctx, callers, secret.Data[authorityCert])
	rest := k.serving.offer(&pair, secret.Data[authorityCert], trusted, now)
	if rest == 0 {
		rest = due.Sub(now)
	}
	return reconcile.Result{RequeueAfter: min(max(rest, shortest), longest)}, err
}

func (k *Keeper) renew(ctx context.Context, secret *corev1.Secret, all []call, now time.Time) error {
	hosts := hosts(all, secret.Namespace)
	fresh, err := k.options.renew(secret.Data, hosts, alreadyTrusted(all), now)
	if err != nil || fresh == nil {
		return err
	}
	base := secret.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range fresh {
		secret.Data[key] = value
	}
	if err := k.client.Patch(ctx, secret, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("store the certificate: %w", err)
	}
	k.options.Log.Info("made a certificate for the webhook server", "secret", secret.Name, "hosts", hosts)
	return nil
}

func (k *Keeper) makeSecret(ctx context.Context) error {
	err := k.client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.options.Secret.Namespace, Name: k.options.Secret.Name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the Secret of the certificate: %w", err)
	}
	return nil
}

// caller is an object with calls.
type caller struct {
	object, base client.Object
	calls        []call
}

func (k *Keeper) callers(ctx context.Context) ([]caller, error) {
	var all []caller
	for _, w := range k.watched[1:] {
		obj := w.object.DeepCopyObject().(client.Object)
		if err := w.get(ctx, obj); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return nil, err
		}
		k.tellInjected(obj)
		base := obj.DeepCopyObject().(client.Object)
		if found := calls(obj, k.options.Secret.Namespace); len(found) > 0 {
			all = append(all, caller{object: obj, base: base, calls: found})
		}
	}
	return all, nil
}

// tellInjected says once, while it is so, that an object is left alone: an annotation that an earlier installation has left there
// makes every call of the API server fail.
func (k *Keeper) tellInjected(obj client.Object) {
	name := obj.GetName()
	was := k.left[name]
	k.left[name] = injected(obj)
	if k.left[name] && !was {
		k.options.Log.Info("cert-manager is told to say what the API server trusts here, so the certificate of the operator's own making may not be trusted: "+
			"remove the annotation "+injector+"..., or let the operator use cert-manager's certificate", "in", name)
	}
}

// inject tells callers what to trust, and says whether they all did already.
func (k *Keeper) inject(ctx context.Context, callers []caller, authorities []byte) (trusted bool, err error) {
	trusted = true
	for _, c := range callers {
		if !trust(c.calls, authorities) {
			continue
		}
		trusted = false
		patch := client.MergeFromWithOptions(c.base, client.MergeFromWithOptimisticLock{})
		if failed := k.client.Patch(ctx, c.object, patch); failed != nil {
			err = errors.Join(err, fmt.Errorf("tell %s what to trust: %w", c.object.GetName(), failed))
			continue
		}
		k.options.Log.Info("told the API server which authority to trust", "in", c.object.GetName())
	}
	return trusted, err
}
