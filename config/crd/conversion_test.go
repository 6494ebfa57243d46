package crd_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/config/crd"
)

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crd.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The kustomization says of the same definitions the same as WithConversion.
func TestKustomizationConverts(t *testing.T) {
	content, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		Patches []struct {
			Target struct{ Name string }
			Patch  string
		}
	}
	if err := yaml.Unmarshal(content, &kustomization); err != nil || len(kustomization.Patches) != 1 {
		t.Fatalf("%d patches, %v", len(kustomization.Patches), err)
	}
	patch := kustomization.Patches[0]
	targets := regexp.MustCompile("^(" + patch.Target.Name + ")$")
	var operations []struct {
		Value *apiextensionsv1.CustomResourceConversion
	}
	if err := yaml.Unmarshal([]byte(patch.Patch), &operations); err != nil || len(operations) != 1 {
		t.Fatalf("%d operations, %v", len(operations), err)
	}
	service := &apiextensionsv1.ServiceReference{Namespace: "system", Name: "webhook-service"}
	for _, definition := range definitions(t) {
		want := crd.WithConversion(definition, apiextensionsv1.WebhookClientConfig{Service: service}).Spec.Conversion
		var got *apiextensionsv1.CustomResourceConversion
		if targets.MatchString(definition.Name) {
			got = operations[0].Value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", definition.Name, diff)
		}
	}
}

// Where nobody converts, the versions must hold the same, or v1alpha1 must keep what it does not know.
func TestUnconvertedVersionsLoseNothing(t *testing.T) {
	for _, definition := range definitions(t) {
		if len(definition.Spec.Versions) < 2 || crd.Converted(definition) {
			continue
		}
		schemas := map[string]apiextensionsv1.JSONSchemaProps{}
		for _, version := range definition.Spec.Versions {
			schemas[version.Name] = *version.Schema.OpenAPIV3Schema
		}
		for _, path := range missing(schemas["v1alpha1"], schemas["v1beta1"], definition.Spec.Names.Kind) {
			t.Errorf("OP-60: %s is lost when v1alpha1 is written; let the webhook convert the kind", path)
		}
		for _, path := range missing(schemas["v1beta1"], schemas["v1alpha1"], definition.Spec.Names.Kind) {
			t.Errorf("OP-60: %s is lost when v1beta1 is written; let the webhook convert the kind", path)
		}
	}
}

// missing returns the fields of a schema that another one would drop.
func missing(in, of apiextensionsv1.JSONSchemaProps, path string) []string {
	if in.XPreserveUnknownFields != nil && *in.XPreserveUnknownFields {
		return nil
	}
	var paths []string
	for name, field := range of.Properties {
		other, has := in.Properties[name]
		if !has {
			paths = append(paths, path+"."+name)
			continue
		}
		paths = append(paths, missing(other, field, path+"."+name)...)
		if field.Items != nil && other.Items != nil {
			paths = append(paths, missing(*other.Items.Schema, *field.Items.Schema, path+"."+name)...)
		}
	}
	return paths
}

// The fragment that the chart uses says the same as WithConversion.
func TestFragmentConverts(t *testing.T) {
	content, err := os.ReadFile("../webhook/conversion.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got apiextensionsv1.CustomResourceDefinitionSpec
	if err := yaml.UnmarshalStrict(content, &got); err != nil {
		t.Fatal(err)
	}
	service := &apiextensionsv1.ServiceReference{Namespace: "system", Name: "webhook-service"}
	for _, definition := range definitions(t) {
		if !crd.Converted(definition) {
			continue
		}
		want := crd.WithConversion(definition, apiextensionsv1.WebhookClientConfig{Service: service}).Spec.Conversion
		if diff := cmp.Diff(want, got.Conversion); diff != "" {
			t.Errorf("%s:\n%s", definition.Name, diff)
		}
	}
}

func TestWithConversionCopies(t *testing.T) {
	url := "https://localhost:9443/convert"
	for _, definition := range definitions(t) {
		before := definition.DeepCopy()
		got := crd.WithConversion(definition, apiextensionsv1.WebhookClientConfig{URL: &url})
		if diff := cmp.Diff(before, definition); diff != "" {
			t.Errorf("%s was changed:\n%s", definition.Name, diff)
		}
		if crd.Converted(definition) && *got.Spec.Conversion.Webhook.ClientConfig.URL != url {
			t.Errorf("%s is not converted at %s", definition.Name, url)
		}
	}
}
