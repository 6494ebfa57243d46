package storageversion

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// notePrefix, with the name of a namespace behind it, is the annotation of a definition that says which version, and by which
// generation of the definition, all of the namespace is stored in. What is written later is stored so, too, for as long as
// the definition is the same.
const notePrefix = "stored-version.garm-operator.mercedes-benz.com/"

func noteOf(definition *apiextensionsv1.CustomResourceDefinition) string {
	return fmt.Sprintf("%s/%d", storageVersion(definition), definition.Generation)
}

// noted says whether nothing old is stored in a namespace.
func noted(definition *apiextensionsv1.CustomResourceDefinition, namespace string) bool {
	return definition.Annotations[notePrefix+namespace] == noteOf(definition)
}

// note records on the definition that nothing old is stored in a namespace, and takes away what was noted of the definition as
// it was before: nothing follows from that, and some of it may be of namespaces that are gone. Where that meets the note of
// another operator, that one looks again at its next start. An operator that may not do so looks again at each start.
func (r *Rewriter) note(ctx context.Context, definition *apiextensionsv1.CustomResourceDefinition, namespace string) error {
	annotations := map[string]any{}
	for key, value := range definition.Annotations {
		if strings.HasPrefix(key, notePrefix) && value != noteOf(definition) {
			annotations[key] = nil
		}
	}
	annotations[notePrefix+namespace] = noteOf(definition)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": definition.UID, "annotations": annotations}})
	if err != nil {
		return fmt.Errorf("write the note for the namespace %s: %w", namespace, err)
	}
	target := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition.Name}}
	err = r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsForbidden(err) {
		r.options.Log.Info("may not note that nothing is stored in an old version, and looks again at the next start",
			"definition", definition.Name, "namespace", namespace, "error", err.Error())
		return nil
	}
	if err == nil {
		definition.Annotations = target.Annotations
	}
	return err
}
