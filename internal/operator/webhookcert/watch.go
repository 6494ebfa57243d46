package webhookcert

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// watched is one object that is watched by its name, so that neither memory nor a role has to cover others of its kind.
type watched struct {
	object client.Object
	cache  cache.Cache
}

func watch(config *rest.Config, c client.Client, obj client.Object) (*watched, error) {
	one := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", obj.GetName())}
	if ns := obj.GetNamespace(); ns != "" {
		one.Namespaces = map[string]cache.Config{ns: {}}
	}
	objects, err := cache.New(config, cache.Options{
		Scheme: c.Scheme(), Mapper: c.RESTMapper(), ByObject: map[client.Object]cache.ByObject{obj: one},
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of %s: %w", obj.GetName(), err)
	}
	return &watched{object: obj, cache: objects}, nil
}

func (w *watched) get(ctx context.Context, into client.Object) error {
	return w.cache.Get(ctx, client.ObjectKeyFromObject(w.object), into)
}

// Start keeps the certificate until ctx ends.
func (k *Keeper) Start(ctx context.Context) error {
	anyName := true // several operators in one process are a test's business
	c, err := controller.NewUnmanaged("webhook-certificate", controller.Options{
		Reconciler: k, SkipNameValidation: &anyName, Logger: k.options.Log, MaxConcurrentReconciles: 1,
	})
	if err != nil {
		return fmt.Errorf("make the controller of the certificate: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	request := []reconcile.Request{{NamespacedName: k.options.Secret}}
	same := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return request })
	for _, w := range k.watched {
		if err := c.Watch(source.Kind(w.cache, w.object, same)); err != nil {
			return fmt.Errorf("watch %s: %w", w.object.GetName(), err)
		}
		group.Go(func() error { return w.cache.Start(ctx) })
	}
	group.Go(func() error { return c.Start(ctx) })
	return group.Wait()
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(corev1.AddToScheme(scheme), admissionregistrationv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))
}
