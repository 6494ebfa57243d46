package storageversion

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// result is what became of the resources of a kind.
type result struct {
	written    int
	failed     int
	refused    string // why the last of them failed
	everywhere bool   // the whole cluster was looked at
	looked     int    // how many namespaces were looked at, where not everywhere
}

// resources writes all resources of a kind again: in the whole cluster if that may be listed, else in those namespaces of the
// operator where that has not been done yet.
func (r *Rewriter) resources(ctx context.Context, definition *apiextensionsv1.CustomResourceDefinition) (result, error) {
	all := result{everywhere: true}
	err := r.namespace(ctx, definition, metav1.NamespaceAll, &all)
	if !apierrors.IsForbidden(err) || len(r.options.Namespaces) == 0 {
		return all, err
	}
	some := result{}
	for _, namespace := range r.options.Namespaces {
		if noted(definition, namespace) {
			continue
		}
		some.looked++
		failed := some.failed
		if err := r.namespace(ctx, definition, namespace, &some); err != nil {
			return some, err
		}
		if some.failed > failed {
			continue
		}
		if err := r.note(ctx, definition, namespace); err != nil {
			return some, err
		}
	}
	return some, nil
}

func (r *Rewriter) namespace(
	ctx context.Context, definition *apiextensionsv1.CustomResourceDefinition, namespace string, result *result,
) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{
		Group: definition.Spec.Group, Version: storageVersion(definition), Kind: definition.Spec.Names.ListKind,
	})
	for {
		options := []client.ListOption{client.InNamespace(namespace), client.Limit(pageSize), client.Continue(list.Continue)}
		if err := r.client.List(ctx, list, options...); err != nil {
			return fmt.Errorf("list the %s: %w", definition.Spec.Names.Plural, err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			item.SetGroupVersionKind(schema.GroupVersionKind{
				Group: definition.Spec.Group, Version: storageVersion(definition), Kind: definition.Spec.Names.Kind,
			})
			if err := r.write(ctx, item, result); err != nil {
				return fmt.Errorf("rewrite %s %s/%s: %w", definition.Spec.Names.Kind, item.Namespace, item.Name, err)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(r.options.Pause):
			}
		}
		if list.Continue == "" {
			return nil
		}
	}
}

// write has one resource stored as it is. The API server writes what does not change only if it is stored in another form.
func (r *Rewriter) write(ctx context.Context, item *metav1.PartialObjectMetadata, result *result) error {
	err := r.client.Patch(ctx, item, client.RawPatch(types.MergePatchType, []byte("{}")))
	switch {
	case err == nil:
		result.written++
		return nil
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		result.failed, result.refused = result.failed+1, err.Error()
		return nil
	default:
		return err
	}
}
