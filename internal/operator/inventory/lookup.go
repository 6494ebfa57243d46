package inventory

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Fields of the indexes. They are this package's own.
const (
	fieldInstance = "inventory.instance"
	fieldPool     = "inventory.pool"
	fieldPoolID   = "inventory.poolID"
)

// index makes the look-ups that a reconcile needs cost as much as what they find.
func index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range []struct {
		obj   client.Object
		field string
		value func(client.Object) string
	}{
		{&v1beta1.Runner{}, fieldInstance, func(o client.Object) string { return instanceKey(o.(*v1beta1.Runner)) }},
		{&v1beta1.Runner{}, fieldPool, func(o client.Object) string { return o.(*v1beta1.Runner).Status.PoolID }},
		{&v1beta1.Pool{}, fieldPoolID, func(o client.Object) string { return o.(*v1beta1.Pool).Status.ID }},
	} {
		err := indexer.IndexField(ctx, i.obj, i.field, func(o client.Object) []string {
			if v := i.value(o); v != "" {
				return []string{v}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("index %s: %w", i.field, err)
		}
	}
	return nil
}

// instanceKey is the natural key of the instance that a Runner shows. One that has no status yet, shows the instance of
// its own name.
func instanceKey(obj *v1beta1.Runner) string {
	if obj.Status.Name != "" {
		return remote.InstanceKey(obj.Status.Name)
	}
	return obj.Name
}

// owner returns the Pool that has claimed the GARM pool with an id, or nil. Of several the oldest owns it; one that the operator
// is done with does not count, however long the finalizers of others hold it.
func (r *reconciler) owner(ctx context.Context, view *remote.View, id string) (*v1beta1.Pool, error) {
	if id == "" {
		return nil, nil
	}
	list := &v1beta1.PoolList{}
	if err := r.client.List(ctx, list, client.MatchingFields{fieldPoolID: id}); err != nil {
		return nil, fmt.Errorf("find the Pool of an instance: %w", err)
	}
	var claims []*v1beta1.Pool
	for i := range list.Items {
		pool := &list.Items[i]
		if !refs.Left(pool) && (pool.Status.ControllerID == "" || pool.Status.ControllerID == view.Identity().ControllerID) {
			claims = append(claims, pool)
		}
	}
	return refs.Oldest(claims), nil
}

// objects returns every Runner object that shows the instance of a pass, in any namespace. One that has no status yet is
// known by its own name.
func (r *reconciler) objects(ctx context.Context, p *pass) ([]v1beta1.Runner, error) {
	keys := []string{p.key}
	if p.present {
		if name := ObjectName(p.instance.Name); name != p.key {
			keys = append(keys, name)
		}
	}
	var found []v1beta1.Runner
	for _, key := range keys {
		list := &v1beta1.RunnerList{}
		if err := r.client.List(ctx, list, client.MatchingFields{fieldInstance: key}); err != nil {
			return nil, fmt.Errorf("find the Runners of an instance: %w", err)
		}
		found = append(found, list.Items...)
	}
	return found, nil
}

// keyOf returns the key under which a Runner object is reconciled. The name of an object without a status may be a
// sanitised one; then the instance is looked for among all, which happens once between a create and its status.
func (r *reconciler) keyOf(obj *v1beta1.Runner) string {
	key := instanceKey(obj)
	view := r.session.View()
	if !r.shows || obj.Status.Name != "" || view == nil {
		return key
	}
	if _, found, _ := view.Instance(key); found {
		return key
	}
	instances, _ := view.Instances()
	for _, i := range instances {
		if ObjectName(i.Name) == obj.Name {
			return remote.InstanceKey(i.Name)
		}
	}
	return key
}
