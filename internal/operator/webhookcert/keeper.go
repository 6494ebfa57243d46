package webhookcert

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/internal/operator/access"
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
	reviews authorizationclient.SelfSubjectAccessReviewInterface
	watched []*watched
	serving *serving
	missing *missing
	place   place
	// refusals are the rights whose lack the present pass has met. Only Reconcile uses them, one at a time.
	refusals []access.Right
	// left are the objects of which the log says that they are left to others. Only Reconcile uses it, one at a time.
	left map[string]string
}

// New makes a keeper. It does nothing before Start.
func New(config *rest.Config, options Options) (*Keeper, error) {
	o := options.withDefaults()
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	// Definitions are large, and as JSON slow to read.
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make the client for certificates: %w", err)
	}
	reviews, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client for certificates: %w", err)
	}
	k := &Keeper{
		options: o, client: c, reviews: reviews.SelfSubjectAccessReviews(), serving: newServing(o.Settle), missing: newMissing(o),
		place: place{namespace: o.Secret.Namespace, addresses: o.Addresses}, left: map[string]string{},
	}
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

// Ready fails until there is a certificate to show that callers trust; rights that are missing are then the reason.
func (k *Keeper) Ready(*http.Request) error {
	err := k.serving.check()
	if missing := k.missing.error(); err != nil && missing != nil {
		return missing
	}
	return err
}

// Reconcile brings the Secret, the callers and the certificate that is shown to what they must be, as far as rights allow.
func (k *Keeper) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	k.refusals = nil
	rest, err := k.keep(ctx, time.Now())
	k.missing.try(k.refusals)
	if len(k.refusals) > 0 {
		rest = k.options.Again // nobody else tells when rights are given
	}
	if err != nil {
		return reconcile.Result{}, err // tried again with growing pauses
	}
	return reconcile.Result{RequeueAfter: rest}, nil
}

// refusal notes that an error means that a right is missing, and says so.
func (k *Keeper) refusal(verb string, w *watched, err error) bool {
	if !refused(err) {
		return false
	}
	k.refusals = append(k.refusals, w.to(verb))
	return true
}

// keep returns after how long to look again.
func (k *Keeper) keep(ctx context.Context, now time.Time) (time.Duration, error) {
	secret := &corev1.Secret{}
	switch err := k.watched[0].get(ctx, secret); {
	case errors.Is(err, errClosed):
		return 0, nil // its watch begins with a pass
	case apierrors.IsNotFound(err):
		return again, k.makeSecret(ctx)
	case err != nil:
		return 0, err
	}
	callers, all, err := k.callers(ctx)
	if err != nil {
		return 0, err
	}
	told := all && k.missing.error() == nil
	if err := k.renew(ctx, secret, callers, told, now); err != nil {
		if apierrors.IsConflict(err) {
			return again, nil
		}
		return 0, err
	}
	if len(secret.Data[serverCert]) == 0 {
		return k.options.Again, nil // it may not be stored
	}
	pair, err := tls.X509KeyPair(secret.Data[serverCert], secret.Data[serverKey])
	if err != nil {
		return 0, fmt.Errorf("read the certificate: %w", err)
	}
	due, err := k.options.renewal(secret.Data)
	if err != nil {
		return 0, err
	}
	trusted, err := k.inject(ctx, callers, secret.Data[authorityCert])
	rest := k.serving.offer(&pair, secret.Data[authorityCert], trusted && all, now)
	if rest == 0 {
		rest = due.Sub(now)
	}
	if !told {
		rest = max(rest, k.options.Again)
	}
	return min(max(rest, shortest), longest), err
}

func (k *Keeper) renew(ctx context.Context, secret *corev1.Secret, callers []caller, told bool, now time.Time) error {
	var found []call
	for _, c := range callers {
		found = append(found, c.calls...)
	}
	n := needs{hosts: hosts(found, secret.Namespace, names(secret.Data[serverCert])), trusted: alreadyTrusted(found), told: told}
	fresh, err := k.options.renew(secret.Data, n, now)
	if err != nil || fresh == nil {
		return err
	}
	stored := secret.DeepCopy()
	if stored.Data == nil {
		stored.Data = map[string][]byte{}
	}
	maps.Copy(stored.Data, fresh)
	if err := k.client.Patch(ctx, stored, client.MergeFromWithOptions(secret, client.MergeFromWithOptimisticLock{})); err != nil {
		if k.refusal("patch", k.watched[0], err) {
			return nil
		}
		return fmt.Errorf("store the certificate: %w", err)
	}
	*secret = *stored
	if fresh[serverCert] == nil {
		k.options.Log.Info("the authority before the present one is trusted no longer", "secret", secret.Name)
		return nil
	}
	k.options.Log.Info("made a certificate for the webhook server", "secret", secret.Name, "hosts", n.hosts)
	return nil
}

func (k *Keeper) makeSecret(ctx context.Context) error {
	err := k.client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.options.Secret.Namespace, Name: k.options.Secret.Name}})
	if err == nil || apierrors.IsAlreadyExists(err) || k.refusal("create", k.watched[0], err) {
		return nil
	}
	return fmt.Errorf("make the Secret of the certificate: %w", err)
}

// caller is an object with calls.
type caller struct {
	watched      *watched
	object, base client.Object
	calls        []call
}

// callers returns the objects with calls that lead here, and whether these are all.
func (k *Keeper) callers(ctx context.Context) (found []caller, all bool, err error) {
	all = true
	for _, w := range k.watched[1:] {
		obj := w.object.DeepCopyObject().(client.Object)
		switch err := w.get(ctx, obj); {
		case errors.Is(err, errClosed):
			all = false
			continue
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, false, err
		}
		base := obj.DeepCopyObject().(client.Object)
		ours, elsewhere := calls(obj, k.place)
		k.tellLeft(obj, elsewhere)
		if len(ours) > 0 {
			found = append(found, caller{watched: w, object: obj, base: base, calls: ours})
		}
	}
	return found, all, nil
}

// tellLeft says once, while it is so, that an object or some of its calls are left alone: an annotation that an earlier
// installation has left there, or a URL that this operator does not know for its own, makes every call of the API server fail.
func (k *Keeper) tellLeft(obj client.Object, elsewhere []string) {
	name, why := obj.GetName(), ""
	switch {
	case injected(obj):
		why = "cert-manager is told to say what the API server trusts here, so the certificate of the operator's own making may not be trusted: " +
			"remove the annotation " + injector + "..., or let the operator use cert-manager's certificate"
	case len(elsewhere) > 0:
		why = "webhooks are called by a URL that is not known to lead to this operator, and what the API server trusts there is left alone: " +
			"if it does lead here, say so with --operator-webhook-url: " + elsewhere[0]
	}
	if why != "" && why != k.left[name] {
		k.options.Log.Info(why, "in", name)
	}
	k.left[name] = why
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
			// One that has changed meanwhile begins the next pass.
			if !apierrors.IsConflict(failed) && !k.refusal("patch", c.watched, failed) {
				err = errors.Join(err, fmt.Errorf("tell %s what to trust: %w", c.object.GetName(), failed))
			}
			continue
		}
		k.options.Log.Info("told the API server which authority to trust", "in", c.object.GetName())
	}
	return trusted, err
}
