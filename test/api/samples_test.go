package api_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// samples are manifests that users have; they come with a full working directory, not with a clone.
const samples = "../../../shared/samples/v1beta1"

// TestSamplesApply applies manifests that users have, as they are and with strict checking of field names.
func TestSamplesApply(t *testing.T) {
	c := connect(t)
	files, err := filepath.Glob(filepath.Join(samples, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no manifests in %s", samples)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garm-operator-system"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, object := range documents(t, file) {
				config := client.ApplyConfigurationFromUnstructured(object)
				if err := strict.Apply(t.Context(), config, client.FieldOwner("kubectl")); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
			}
		})
	}
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bufio.NewReader(bytes.NewReader(content)), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
