package crd

import (
	"fmt"
	"io/fs"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// ConversionPath is where the operator's webhook server converts.
const ConversionPath = "/convert"

// converted are the kinds whose versions differ. Image and Runner have two versions, too, but need nobody to convert them: see
// docs/adr/0006-conversion.md.
var converted = []string{"Enterprise", "Organization", "Pool", "Repository"}

// Definitions returns what Bases holds, in the order of the files' names.
func Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(Bases, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, len(files))
	for i, file := range files {
		content, err := fs.ReadFile(Bases, file)
		if err != nil {
			return nil, err
		}
		definitions[i] = &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, definitions[i]); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	return definitions, nil
}

// Converted reports whether the operator has to convert the resources of a definition of this group.
func Converted(definition *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.Contains(converted, definition.Spec.Names.Kind)
}

// WithConversion returns a copy of a definition that makes the API server call the operator where versions differ. The path
// of the call is set to ConversionPath when it goes to a Service that names none. Definitions that need no conversion are
// copied as they are.
func WithConversion(
	definition *apiextensionsv1.CustomResourceDefinition, call apiextensionsv1.WebhookClientConfig,
) *apiextensionsv1.CustomResourceDefinition {
	definition = definition.DeepCopy()
	if !Converted(definition) {
		return definition
	}
	config := call.DeepCopy()
	if config.Service != nil && config.Service.Path == nil {
		path := ConversionPath
		config.Service.Path = &path
	}
	definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: config, ConversionReviewVersions: []string{"v1"}},
	}
	return definition
}
