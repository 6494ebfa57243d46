package admission

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// cacheDeadline is how long the cache is waited for, which fills when the process starts.
const cacheDeadline = time.Second

// lookup finds Pools.
type lookup struct {
	cached, live client.Reader
	namespaces   []string
}

// watches says whether the operator works in a namespace.
func (l lookup) watches(namespace string) bool {
	return len(l.namespaces) == 0 || slices.Contains(l.namespaces, namespace)
}

// find returns the Pools of a namespace that are not being deleted, have the value in the index, and match. The cache may be
// behind; while it is not filled, the API server is asked.
func (l lookup) find(ctx context.Context, namespace, index, value string, match func(*v1beta1.Pool) bool) ([]v1beta1.Pool, error) {
	waiting, cancel := context.WithTimeout(ctx, cacheDeadline)
	defer cancel()
	var list v1beta1.PoolList
	if err := l.cached.List(waiting, &list, client.InNamespace(namespace), client.MatchingFields{index: value}); err != nil {
		return l.findLive(ctx, namespace, match)
	}
	return keep(list.Items, match), nil
}

func (l lookup) findLive(ctx context.Context, namespace string, match func(*v1beta1.Pool) bool) ([]v1beta1.Pool, error) {
	var list v1beta1.PoolList
	if err := l.live.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	return keep(list.Items, match), nil
}

func keep(pools []v1beta1.Pool, match func(*v1beta1.Pool) bool) []v1beta1.Pool {
	return slices.DeleteFunc(pools, func(p v1beta1.Pool) bool { return !counts(&p, match) })
}

func counts(p *v1beta1.Pool, match func(*v1beta1.Pool) bool) bool {
	return p.DeletionTimestamp.IsZero() && match(p)
}
