package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/config/crd"
)

// kind is a kind with the schema of the version that is stored.
type kind struct {
	name   string
	schema apiextensionsv1.JSONSchemaProps
}

// kinds reads the generated definitions.
func kinds() ([]kind, error) {
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	all := make([]kind, 0, len(files))
	for _, file := range files {
		content, err := crd.Bases.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &definition); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, v := range definition.Spec.Versions {
			if v.Storage {
				all = append(all, kind{name: definition.Spec.Names.Kind, schema: *v.Schema.OpenAPIV3Schema})
			}
		}
	}
	return all, nil
}

// file is the name of the kind's page.
func (k kind) file() string { return strings.ToLower(k.name) + ".md" }

// fields is the part of the page that lists spec and status.
func (k kind) fields() []byte {
	var b bytes.Buffer
	for _, part := range []string{"spec", "status"} {
		schema := k.schema.Properties[part]
		if len(schema.Properties) == 0 {
			continue
		}
		if part == "spec" {
			b.WriteString("| spec | type | | meaning |\n|---|---|---|---|\n")
		} else {
			b.WriteString("\n| status | type | meaning |\n|---|---|---|\n")
		}
		rows(&b, schema, "", part == "spec")
	}
	return b.Bytes()
}

// rows writes one line a field, those of nested objects with their path.
func rows(b *bytes.Buffer, schema apiextensionsv1.JSONSchemaProps, path string, isSpec bool) {
	names := slices.Sorted(maps.Keys(schema.Properties))
	slices.SortStableFunc(names, func(a, b string) int { return rank(schema, a) - rank(schema, b) })
	for _, name := range names {
		p := schema.Properties[name]
		if isSpec {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", path+name, typeOf(p), need(p, slices.Contains(schema.Required, name)), cell(p.Description))
		} else {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", path+name, typeOf(p), cell(p.Description))
		}
		switch {
		case name == "conditions":
		case p.Items != nil && p.Items.Schema != nil:
			rows(b, *p.Items.Schema, path+name+"[].", isSpec)
		default:
			rows(b, p, path+name+".", isSpec)
		}
	}
}

// rank puts required fields first.
func rank(schema apiextensionsv1.JSONSchemaProps, name string) int {
	if slices.Contains(schema.Required, name) {
		return 0
	}
	return 1
}

func typeOf(p apiextensionsv1.JSONSchemaProps) string {
	switch {
	case len(p.Enum) > 0:
		values := make([]string, 0, len(p.Enum))
		for _, v := range p.Enum {
			values = append(values, quoted(strings.Trim(string(v.Raw), `"`)))
		}
		return strings.Join(values, ", ")
	case p.Items != nil && p.Items.Schema != nil:
		return "list of " + typeOf(*p.Items.Schema)
	default:
		return p.Type
	}
}

// need tells whether a field has to be there, or what it is when it is not.
func need(p apiextensionsv1.JSONSchemaProps, required bool) string {
	switch {
	case p.Default != nil:
		var compact bytes.Buffer
		if err := json.Compact(&compact, p.Default.Raw); err != nil {
			return "has a default"
		}
		return "default `" + compact.String() + "`"
	case required:
		return "required"
	default:
		return ""
	}
}

// quoted marks a value of an enum as code.
func quoted(s string) string {
	if s == "" {
		return "empty"
	}
	return code(s)
}
