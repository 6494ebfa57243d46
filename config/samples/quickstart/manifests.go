// Package quickstart holds the manifests of the quickstart, for the demo and for tests.
package quickstart

import "embed"

// Manifests holds the YAML files. ${NAME} in them stands for a value of the installation; the README lists the names.
//
//go:embed *.yaml
var Manifests embed.FS
