package api_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sampleRoots hold manifests: those that the project ships, and those that users have, which come with a full working
// directory and not with a clone.
var sampleRoots = []string{"../../config/samples", "../../../shared/samples/v1beta1"}

// placeholder is a value of the installation, which whoever applies the manifest fills in.
var placeholder = regexp.MustCompile(`\$\{[A-Z_]+\}`)

// TestSamplesApply applies every manifest, an address in place of each ${NAME} and otherwise as it is, with strict checking of field names.
func TestSamplesApply(t *testing.T) {
	c := connect(t)
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	for _, root := range sampleRoots {
		files := manifests(t, root)
		if len(files) == 0 {
			t.Logf("no manifests in %s", root)
		}
		for _, file := range files {
			t.Run("OP-10 "+file, func(t *testing.T) {
				for _, object := range documents(t, file) {
					c.ensureNamespace(t, object)
					config := client.ApplyConfigurationFromUnstructured(object)
					if err := strict.Apply(t.Context(), config, client.FieldOwner("kubectl")); err != nil {
						t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
					}
					defer c.remove(t, object) // another file may give the name to another object
				}
			})
		}
	}
}

// ensureNamespace makes the object's namespace, and gives it the test's where it names none.
func (c *cluster) ensureNamespace(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if object.GroupVersionKind().Group == "" && object.GetKind() == "Namespace" {
		return
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(c.namespace)
		return
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.GetNamespace()}}
	if err := c.Create(t.Context(), namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

func (c *cluster) remove(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if err := c.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// manifests returns the YAML files below root but for kustomizations, which are no objects of a cluster.
func manifests(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".yaml" && filepath.Base(path) != "kustomization.yaml" {
			files = append(files, path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	content = placeholder.ReplaceAllLiteral(content, []byte("https://example.com"))
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
