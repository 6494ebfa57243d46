package main

import (
	"errors"
	"io"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomize renders a directory as "kustomize build" does.
func kustomize(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("needs a directory")
	}
	text, err := build(args[0])
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

func build(dir string) ([]byte, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return resources.AsYaml()
}
