package admission_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// The rules, with one operator for all of them.
func TestRules(t *testing.T) {
	old := pool(namespace(t), "old", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = "{bad}" })
	old.Finalizers = []string{v1beta1.FinalizerPool}
	create(t, old) // before there are webhooks
	serving(t)
	for name, test := range map[string]func(*testing.T){
		"OP-16/second":           equalPools,
		"OP-16/apply":            applied,
		"OP-16/deleted":          deletedPools,
		"OP-16/update":           updatedPools,
		"OP-16/generated-names":  generatedNames,
		"OP-16/v1alpha1":         oldVersion,
		"OP-17/in-parallel":      equalInParallel,
		"OP-17/differ-in-tags":   differentInParallel,
		"OP-22/used":             usedImage,
		"OP-22/with-its-pools":   imageWithPools,
		"OP-22/all-at-once":      allImages,
		"OP-22/namespace":        imageOfNamespace,
		"OP-27/extra-specs":      extraSpecs,
		"OP-27/old":              func(t *testing.T) { oldPool(t, old) },
		"OP-28/scale":            scaled,
		"OP-29/immutable-fields": immutable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// edit changes a resource by a patch.
func edit[O client.Object](t *testing.T, obj O, change func(O)) error {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	base := obj.DeepCopyObject().(O)
	change(obj)
	return kube.Patch(t.Context(), obj, client.MergeFrom(base))
}
