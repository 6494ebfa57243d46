package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Normal returns objects by kind, namespace and name in a form in which equal installations are equal, however they were
// rendered: typed, where a type is known; without labels and annotations that say who rendered them; without the
// Namespace, which Helm makes itself.
func Normal(objects []*unstructured.Unstructured) (map[string]any, error) {
	normal := map[string]any{}
	for _, o := range objects {
		if o.GetKind() == "Namespace" {
			continue
		}
		o = o.DeepCopy()
		o.SetLabels(without(o.GetLabels()))
		o.SetAnnotations(without(o.GetAnnotations()))
		key := fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
		if _, twice := normal[key]; twice {
			return nil, fmt.Errorf("%s is there twice", key)
		}
		typed, err := typed(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		normal[key] = typed
	}
	return normal, nil
}

// typed decodes strictly, so that a field which the API server would not know is an error.
func typed(o *unstructured.Unstructured) (any, error) {
	var object runtime.Object
	if o.GetKind() == "CustomResourceDefinition" {
		object = &apiextensionsv1.CustomResourceDefinition{}
	} else if known, err := scheme.Scheme.New(o.GroupVersionKind()); err == nil {
		object = known
	} else {
		return o.Object, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, object, true); err != nil {
		return nil, err
	}
	if pod := podOf(object); pod != nil {
		order(pod, o.GetNamespace())
	}
	return object, nil
}

// without returns labels or annotations but for those of tools, nil if none is left.
func without(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if !strings.HasPrefix(key, "app.kubernetes.io/") && !strings.HasPrefix(key, "helm.sh/") {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// order sorts what has no order, and fills in the namespace that kustomize leaves to the kubelet.
func order(pod *corev1.PodSpec, namespace string) {
	slices.SortFunc(pod.Volumes, func(a, b corev1.Volume) int { return cmp.Compare(a.Name, b.Name) })
	for i := range pod.Containers {
		c := &pod.Containers[i]
		for n := range c.Args {
			c.Args[n] = strings.ReplaceAll(c.Args[n], "$(POD_NAMESPACE)", namespace)
		}
		c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "POD_NAMESPACE" })
		if len(c.Env) == 0 {
			c.Env = nil
		}
		slices.SortFunc(c.Ports, func(a, b corev1.ContainerPort) int { return cmp.Compare(a.Name, b.Name) })
		slices.SortFunc(c.VolumeMounts, func(a, b corev1.VolumeMount) int { return cmp.Compare(a.Name, b.Name) })
	}
}
