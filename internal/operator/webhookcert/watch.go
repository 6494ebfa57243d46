package webhookcert

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// watched is one object that is watched by its name, so that neither memory nor a role has to cover others of its kind.
type watched struct {
	object client.Object
	cache  cache.Cache
	// right is that to the object, without a verb.
	right access.Right
	// begun says that the watch has been started, lacks that some right was missing when it was last asked for. Only Start uses them.
	begun, lacks bool
	// open says that the object can be read.
	open atomic.Bool
}

// errClosed is what reading an object gives that cannot be watched yet. It says nothing of the object.
var errClosed = errors.New("not watched yet")

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
	w := &watched{object: obj, cache: objects, right: access.Right{Namespace: obj.GetNamespace(), Name: obj.GetName()}}
	switch obj.(type) {
	case *corev1.Secret:
		w.right.Resource = "secrets"
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		w.right.Group, w.right.Resource = admissionregistrationv1.GroupName, "validatingwebhookconfigurations"
	case *apiextensionsv1.CustomResourceDefinition:
		w.right.Group, w.right.Resource = apiextensionsv1.GroupName, "customresourcedefinitions"
	}
	return w, nil
}

func (w *watched) get(ctx context.Context, into client.Object) error {
	if !w.open.Load() {
		return errClosed
	}
	return w.cache.Get(ctx, client.ObjectKeyFromObject(w.object), into)
}

// to is the right to do something with the object.
func (w *watched) to(verb string) access.Right {
	r := w.right
	r.Verb = verb
	return r
}

// sees are the rights to watch the object, needs those to look after it.
func (w *watched) sees() []access.Right  { return []access.Right{w.to("list"), w.to("watch")} }
func (w *watched) needs() []access.Right { return append(w.sees(), w.to("patch")) }

// settled says that there is nothing to ask for any more.
func (w *watched) settled() bool { return w.open.Load() && !w.lacks }

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(corev1.AddToScheme(scheme), admissionregistrationv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))
}
