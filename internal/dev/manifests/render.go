package manifests

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Overlay is a kustomization on top of the repository's: what a user would write.
type Overlay struct {
	// Namespace and NamePrefix are left out where they are empty.
	Namespace  string `json:"namespace,omitempty"`
	NamePrefix string `json:"namePrefix,omitempty"`
	// Resources and Components are paths below config.
	Resources  []string `json:"resources,omitempty"`
	Components []string `json:"components,omitempty"`
}

// Install is the overlay of an installation in the usual namespace, with components.
func Install(components ...string) Overlay {
	return Overlay{Namespace: "garm-operator-system", NamePrefix: "garm-operator-", Resources: []string{"base"}, Components: components}
}

// Kustomize renders an overlay. The text still holds the variables of the installation.
func (t *Tools) Kustomize(ctx context.Context, o Overlay) (_ []byte, err error) {
	config, err := filepath.Abs(filepath.Join(t.Root, "config"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "garm-kustomize-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// kustomize refuses absolute paths, and resolves links before it goes up.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	up, err := filepath.Rel(dir, config)
	if err != nil {
		return nil, err
	}
	for _, paths := range [][]string{o.Resources, o.Components} {
		for i := range paths {
			paths[i] = filepath.Join(up, paths[i])
		}
	}
	text, err := yaml.Marshal(o)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600); err != nil {
		return nil, err
	}
	return t.Run(ctx, "kustomize", dir)
}

// variable matches $NAME and ${NAME}.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$[A-Za-z_][A-Za-z0-9_]*`)

// Variables returns the names that envsubst would replace, each as often as it occurs.
func Variables(text []byte) []string {
	var names []string
	for _, found := range variable.FindAll(text, -1) {
		names = append(names, strings.Trim(string(found), "${}"))
	}
	return names
}

// Expand puts values in place of $NAME and ${NAME}, as envsubst does: a name without a value becomes nothing.
func Expand(text []byte, values map[string]string) []byte {
	return variable.ReplaceAllFunc(text, func(found []byte) []byte {
		return []byte(values[strings.Trim(string(found), "${}")])
	})
}

// Decode returns the objects of a stream of YAML documents.
func Decode(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("decode a manifest: %w\n%s", err, document)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Helm renders the chart as a release in a namespace, with values on top of the chart's own.
func (t *Tools) Helm(ctx context.Context, namespace string, values map[string]any) (_ []byte, err error) {
	text, err := yaml.Marshal(values)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "garm-values-*.yaml")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return t.Run(ctx, "template", filepath.Join(t.Root, "charts", "garm-operator"), namespace, file.Name())
}
