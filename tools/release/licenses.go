package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// licenses writes the licences and notices of everything that programs are built from.
func licenses(args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("needs the directory of the module and programs")
	}
	modules, err := linked(args[1:])
	if err != nil {
		return err
	}
	if err := readLicenses(args[0], modules); err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("garm-operator is built from the following modules. \"std\" is the standard library of Go.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&text, "%s %s: %s\n", m.Path, m.Version, m.License)
	}
	for _, m := range modules {
		for _, name := range slices.Sorted(maps.Keys(m.Texts)) {
			fmt.Fprintf(&text, "\n%[1]s\n%[2]s %[3]s, %[4]s\n%[1]s\n\n%[5]s\n", strings.Repeat("=", 80), m.Path, m.Version, name, strings.TrimSpace(m.Texts[name]))
		}
	}
	_, err = io.WriteString(out, text.String())
	return err
}
