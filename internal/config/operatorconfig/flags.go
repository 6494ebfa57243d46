package operatorconfig

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
)

// flagSet declares all flags. The old names are declared too, hidden from the usage.
func flagSet(out io.Writer) *pflag.FlagSet {
	flags := pflag.NewFlagSet("garm-operator", pflag.ContinueOnError)
	flags.SetOutput(out)
	flags.SortFlags = false
	for _, o := range Options() {
		declare(flags, o.Flag, o.Shorthand, o)
		for _, old := range o.OldFlags {
			declare(flags, old, "", o)
			flags.Lookup(old).Hidden = true
		}
	}
	flags.String("config", "", "configuration file in YAML; its values win over flags and environment")
	flags.Bool("dry-run", false, "print the effective configuration and exit")
	return flags
}

func declare(flags *pflag.FlagSet, name, shorthand string, o Option) {
	switch def := o.Default.(type) {
	case bool:
		flags.BoolP(name, shorthand, def, o.Usage)
	case int:
		flags.IntP(name, shorthand, def, o.Usage)
	case time.Duration:
		flags.DurationP(name, shorthand, def, o.Usage)
	default:
		flags.StringP(name, shorthand, fmt.Sprint(def), o.Usage)
	}
}

// flagValues returns what was set on the command line, and warns of old names.
func flagValues(flags *pflag.FlagSet) (map[string]any, []string) {
	values := map[string]any{}
	var warnings []string
	for _, o := range Options() {
		for _, old := range o.OldFlags {
			if f := flags.Lookup(old); f.Changed {
				warnings = append(warnings, fmt.Sprintf("the flag --%s is an old name of --%s", old, o.Flag))
				values[o.Key] = f.Value.String()
			}
		}
		if f := flags.Lookup(o.Flag); f.Changed {
			values[o.Key] = f.Value.String()
		}
	}
	return values, warnings
}
