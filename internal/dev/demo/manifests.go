package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager owns what the demo applies.
const fieldManager = "garm-dev"

// readManifests reads all objects, with ${NAME} replaced by the values.
func readManifests(files fs.FS, values map[string]string) ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "${"+name+"}", value)
	}
	replace := strings.NewReplacer(pairs...)
	var objects []*unstructured.Unstructured
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		dec := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(replace.Replace(string(data))), 4096)
		for {
			object := &unstructured.Unstructured{}
			err := dec.Decode(object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			if object.GetKind() == "" || object.GetKind() == "Kustomization" {
				continue
			}
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		return nil, errors.New("there are no manifests")
	}
	return objects, nil
}

// apply makes the namespaces that the objects name, and applies the objects.
func apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	namespaces := map[string]bool{}
	for _, object := range objects {
		if ns := object.GetNamespace(); ns != "" && !namespaces[ns] {
			namespaces[ns] = true
			namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}}
			if err := c.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("making the namespace %s: %w", ns, err)
			}
		}
	}
	for _, object := range objects {
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// notReady returns what is missing for an object to be Ready at its present generation; empty if nothing is. An object
// without status has nothing to become.
func notReady(object *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		condition, ok := item.(map[string]any)
		if !ok || condition["type"] != "Ready" {
			continue
		}
		observed, _, _ := unstructured.NestedInt64(condition, "observedGeneration")
		if condition["status"] == string(metav1.ConditionTrue) && observed == object.GetGeneration() {
			return ""
		}
		return fmt.Sprintf("%s %s: %v %v", object.GetKind(), object.GetName(), condition["reason"], condition["message"])
	}
	return fmt.Sprintf("%s %s has no condition Ready", object.GetKind(), object.GetName())
}
