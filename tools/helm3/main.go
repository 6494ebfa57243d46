// Command helm3 renders and lints a chart as Helm 3 does, so that it can be compared with what tools/release makes of it,
// which is what Helm 4 does.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// commands are the sub-commands. Each gets a chart, a namespace and values, and writes its result to out.
var commands = map[string]func(chart, namespace string, values map[string]any, out io.Writer) error{
	"template": render,
	"lint":     check,
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "helm3: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 4 || commands[args[0]] == nil {
		return errors.New("usage: helm3 template|lint CHART NAMESPACE VALUES-FILE")
	}
	values, err := chartutil.ReadValuesFile(args[3])
	if err != nil {
		return fmt.Errorf("read the values: %w", err)
	}
	return commands[args[0]](args[1], args[2], values, out)
}

// render writes what "helm template garm-operator" does, in the form of tools/release.
func render(path, namespace string, given map[string]any, out io.Writer) error {
	chart, err := loader.LoadDir(path)
	if err != nil {
		return err
	}
	release := chartutil.ReleaseOptions{Name: "garm-operator", Namespace: namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return err
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := strings.TrimSpace(files[name])
		if !strings.HasSuffix(name, ".yaml") || text == "" {
			continue
		}
		if _, err := fmt.Fprintf(out, "---\n# Source: %s\n%s\n", name, text); err != nil {
			return err
		}
	}
	return nil
}

// check fails where "helm lint --strict" does.
func check(path, namespace string, values map[string]any, _ io.Writer) error {
	var found []error
	for _, message := range lint.All(path, values, namespace, true).Messages {
		if message.Severity >= support.WarningSev {
			found = append(found, message)
		}
	}
	return errors.Join(found...)
}
