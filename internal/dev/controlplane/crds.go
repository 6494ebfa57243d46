package controlplane

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// readCRDs returns the custom resource definitions in the *.yaml files of fsys. A file system without one is an error: a wrong
// directory would otherwise show only as resources that are not served.
func readCRDs(fsys fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if fsys == nil {
		return nil, nil
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		found, err := decodeCRDs(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, found...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read custom resource definitions: %w", err)
	}
	if len(crds) == 0 {
		return nil, errors.New("read custom resource definitions: no *.yaml file holds one")
	}
	return crds, nil
}

// decodeCRDs skips documents of other kinds, such as a kustomization beside the definitions.
func decodeCRDs(content []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return crds, nil
		}
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, crd); err != nil {
			return nil, err
		}
		if crd.Kind == "CustomResourceDefinition" {
			crds = append(crds, crd)
		}
	}
}
