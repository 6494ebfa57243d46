// Package crd holds the generated CustomResourceDefinitions of the group, for tests and for the embedded environment.
package crd

import "embed"

// Bases holds one YAML file per kind, in the directory bases.
//
//go:embed bases/*.yaml
var Bases embed.FS
