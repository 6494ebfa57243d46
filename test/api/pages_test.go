package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestExamplesApply applies the examples of the pages of kinds as they stand.
func TestExamplesApply(t *testing.T) {
	c := connect(t)
	pages, err := filepath.Glob("../../docs/kinds/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range example.FindAllSubmatch(content, -1) {
			found++
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(block[1], &object.Object); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			object.SetNamespace(c.namespace)
			if err := strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl")); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if found < len(pages)-1 {
		t.Errorf("only %d examples on %d pages", found, len(pages))
	}
}
