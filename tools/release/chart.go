package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartv2util "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

// given returns the values of a file, none if the arguments name none.
func given(args []string) (map[string]any, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, errors.New("needs a chart, a namespace and perhaps a file of values")
	}
	if len(args) == 2 {
		return map[string]any{}, nil
	}
	file, err := os.Open(args[2])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return loader.LoadValues(file)
}

// lintChart fails where "helm lint --strict" does.
func lintChart(args []string, _ io.Writer) error {
	values, err := given(args)
	if err != nil {
		return err
	}
	var found []error
	for _, message := range lint.RunAll(args[0], values, args[1]).Messages {
		if message.Severity >= support.WarningSev {
			found = append(found, message)
		}
	}
	return errors.Join(found...)
}

// template renders a chart as "helm template garm-operator" does, values checked against the chart's schema.
func template(args []string, out io.Writer) error {
	given, err := given(args)
	if err != nil {
		return err
	}
	chart, err := loader.LoadDir(args[0])
	if err != nil {
		return err
	}
	release := common.ReleaseOptions{Name: "garm-operator", Namespace: args[1], Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, given, release, common.DefaultCapabilities)
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

// pack writes the chart of a version as "helm package" does, with one time for all files, so that it is the same each time.
func pack(args []string, out io.Writer) error {
	if len(args) != 4 {
		return errors.New("needs a chart, a version, a time and a directory to write to")
	}
	modified, err := time.Parse(time.RFC3339, args[2])
	if err != nil {
		return err
	}
	chart, err := loader.LoadDir(args[0])
	if err != nil {
		return err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = strings.TrimPrefix(args[1], "v"), args[1]
	if err := chart.Validate(); err != nil {
		return err
	}
	chart.ModTime, chart.SchemaModTime = modified, modified
	for _, f := range slices.Concat(chart.Raw, chart.Templates, chart.Files) {
		f.ModTime = modified
	}
	path, err := chartv2util.Save(chart, args[3])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, path)
	return err
}
