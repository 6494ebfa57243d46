package refs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Reference says that resources of one kind name resources of another. From names To.
type Reference[From client.Object] struct {
	// Field names the index; it is unique among those of From.
	Field string
	// Names returns what a resource refers to by this reference; empty names do not count.
	Names func(From) []string
	// New and NewList make what the index is of, and read.
	New     func() From
	NewList func() client.ObjectList
	// Items returns the resources in a list of NewList.
	Items func(client.ObjectList) []From
}

// Index registers the index.
func (r Reference[From]) Index(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, r.New(), r.Field, func(obj client.Object) []string {
		from, ok := obj.(From)
		if !ok {
			return nil
		}
		return compact(r.Names(from))
	})
	if err != nil {
		return fmt.Errorf("index %s: %w", r.Field, err)
	}
	return nil
}

// Left says whether the operator is done with a resource that is being deleted: what still holds it are finalizers of others.
func Left(obj client.Object) bool {
	return !obj.GetDeletionTimestamp().IsZero() && !slices.ContainsFunc(obj.GetFinalizers(), func(finalizer string) bool {
		return strings.HasPrefix(finalizer, v1beta1.Group+"/")
	})
}

// Referrers returns the resources in a namespace that refer to a name; from the cache. Those that the operator is done with
// do not count.
func (r Reference[From]) Referrers(ctx context.Context, c client.Reader, namespace, name string) ([]From, error) {
	list := r.NewList()
	options := []client.ListOption{client.MatchingFields{r.Field: name}}
	if namespace != "" {
		options = append(options, client.InNamespace(namespace))
	}
	if err := c.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("look up by %s: %w", r.Field, err)
	}
	return slices.DeleteFunc(r.Items(list), func(from From) bool { return Left(from) }), nil
}

// Handler wakes the referrers of a resource that has changed.
func (r Reference[From]) Handler(c client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, to client.Object) []reconcile.Request {
		return r.Requests(ctx, c, to.GetNamespace(), to.GetName())
	})
}

// Requests returns requests for the referrers.
func (r Reference[From]) Requests(ctx context.Context, c client.Reader, namespace, name string) []reconcile.Request {
	referrers, err := r.Referrers(ctx, c, namespace, name)
	if err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(referrers))
	for _, from := range referrers {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(from)})
	}
	return requests
}

// All returns requests for every resource of From.
func (r Reference[From]) All(ctx context.Context, c client.Reader) []reconcile.Request {
	list := r.NewList()
	if err := c.List(ctx, list); err != nil {
		return nil
	}
	items := r.Items(list)
	requests := make([]reconcile.Request, 0, len(items))
	for _, from := range items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(from)})
	}
	return requests
}

func compact(names []string) []string {
	var out []string
	for _, name := range names {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Pointers returns pointers to the items of a list.
func Pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
