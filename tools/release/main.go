// Command release makes what a release consists of, and renders manifests the way kustomize and Helm do, without a
// network, a container runtime or a registry. The Makefile and the tests run it.
package main

import (
	"fmt"
	"io"
	"os"
)

// commands are the sub-commands. Each gets the arguments after its name and writes its result to out.
var commands = map[string]struct {
	usage string
	run   func(args []string, out io.Writer) error
}{
	"kustomize": {"DIRECTORY: render a kustomization", kustomize},
	"manifests": {"CONFIG TAG DIRECTORY: write the manifests of a release", manifests},
	"archive":   {"TIME FILE FILE...: pack files or directories", archiveFiles},
	"package":   {"CHART VERSION TIME DIRECTORY: pack the chart", pack},
	"images":    {"VERSION TIME DIRECTORY ARCHITECTURE=PROGRAM...: write an OCI layout", images},
	"sbom":      {"MODULE-DIRECTORY VERSION TIME PROGRAM...: write a bill of materials", sbom},
	"licenses":  {"MODULE-DIRECTORY PROGRAM...: write the licences of what programs are built from", licenses},
	"template":  {"CHART NAMESPACE [VALUES-FILE]: render a chart", template},
	"lint":      {"CHART NAMESPACE [VALUES-FILE]: look for faults in a chart", lintChart},
}

func main() {
	if len(os.Args) > 1 {
		if command, ok := commands[os.Args[1]]; ok {
			if err := command.run(os.Args[2:], os.Stdout); err != nil {
				fmt.Fprintf(os.Stderr, "release %s: %v\n", os.Args[1], err)
				os.Exit(1)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage:")
	for name, command := range commands {
		fmt.Fprintln(os.Stderr, "  release", name, command.usage)
	}
	os.Exit(2)
}
