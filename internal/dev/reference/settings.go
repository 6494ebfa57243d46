package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// settings is the table of all settings of garm-operator.
func settings() []byte {
	var b bytes.Buffer
	b.WriteString("| flag | environment | file | default | meaning |\n|---|---|---|---|---|\n")
	for _, o := range operatorconfig.Options() {
		flag := "`--" + o.Flag + "`"
		if o.Shorthand != "" {
			flag += ", `-" + o.Shorthand + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s%s |\n", flag, code(o.Env), o.Key, code(shown(o.Default)), cell(o.Usage), old(o))
	}
	return b.Bytes()
}

func shown(value any) string {
	if d, ok := value.(time.Duration); ok {
		return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
	}
	return fmt.Sprint(value)
}

// old tells of the earlier names of a setting.
func old(o operatorconfig.Option) string {
	names := make([]string, 0, len(o.OldFlags)+len(o.OldEnvs))
	for _, f := range o.OldFlags {
		names = append(names, "`--"+f+"`")
	}
	for _, e := range o.OldEnvs {
		names = append(names, "`"+e+"`")
	}
	if len(names) == 0 {
		return ""
	}
	return " (also " + strings.Join(names, ", ") + ", with a warning)"
}

// code marks a value as code; nothing stays nothing.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// cell makes a text fit into one cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
