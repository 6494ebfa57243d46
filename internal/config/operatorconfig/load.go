package operatorconfig

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Source says where a value came from.
type Source string

// Sources, from the weakest to the strongest.
const (
	SourceDefault Source = "default"
	SourceEnv     Source = "environment"
	SourceFlag    Source = "flag"
	SourceFile    Source = "file"
)

// Loaded is a configuration with what is known about how it came about.
type Loaded struct {
	Config Config
	// Sources holds the source of each key.
	Sources map[string]Source
	// Warnings are about names that are old or unknown; they hold no values.
	Warnings []string
	// DryRun says that the configuration is to be shown, and nothing else done.
	DryRun bool
}

// UsageError is a command line that cannot be understood. Programs answer it with exit code 2.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Load reads the configuration from the arguments (without the program's name) and the environment (as os.Environ
// gives it). Usage goes to out. It returns pflag.ErrHelp for --help, a *UsageError for bad arguments, and the joined
// errors of all invalid values else.
func Load(args, environ []string, out io.Writer) (*Loaded, error) {
	flags := flagSet(out)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, &UsageError{err}
	}
	if flags.NArg() > 0 {
		return nil, &UsageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}

	loaded := &Loaded{Sources: map[string]Source{}}
	loaded.DryRun, _ = flags.GetBool("dry-run")
	merged := koanf.New(".")
	add := func(source Source, values map[string]any) error {
		for key := range values {
			loaded.Sources[key] = source
		}
		return merged.Load(confmap.Provider(values, "."), nil)
	}

	defaults := map[string]any{}
	for _, o := range Options() {
		defaults[o.Key] = o.Default
	}
	fromEnv, warnings := envValues(environ)
	loaded.Warnings = append(loaded.Warnings, warnings...)
	fromFlags, warnings := flagValues(flags)
	loaded.Warnings = append(loaded.Warnings, warnings...)
	path, _ := flags.GetString("config")
	fromFile, warnings, err := fileValues(path)
	if err != nil {
		return nil, err
	}
	loaded.Warnings = append(loaded.Warnings, warnings...)

	if err := errors.Join(add(SourceDefault, defaults), add(SourceEnv, fromEnv), add(SourceFlag, fromFlags), add(SourceFile, fromFile)); err != nil {
		return nil, err
	}
	if err := decode(merged, loaded); err != nil {
		return nil, err
	}
	return loaded, loaded.Config.Validate()
}

// decode fills the struct key by key, so that an error names the key and where its value came from.
func decode(merged *koanf.Koanf, loaded *Loaded) error {
	var errs []error
	for _, o := range Options() {
		one := koanf.New(".")
		if err := one.Load(confmap.Provider(map[string]any{o.Key: merged.Get(o.Key)}, "."), nil); err != nil {
			return err
		}
		err := one.UnmarshalWithConf("", &loaded.Config, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
			DecodeHook:       mapstructure.StringToTimeDurationHookFunc(),
			Result:           &loaded.Config,
			WeaklyTypedInput: true,
			TagName:          "koanf",
		}})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s (from %s): %s is expected", o.Key, loaded.Sources[o.Key], kindName(o.Default)))
		}
	}
	return errors.Join(errs...)
}

func kindName(value any) string {
	switch value.(type) {
	case bool:
		return "true or false"
	case int:
		return "a whole number"
	case time.Duration:
		return "a duration such as 30s or 5m"
	default:
		return "a text"
	}
}

func fileValues(path string) (map[string]any, []string, error) {
	if path == "" {
		return nil, nil, nil
	}
	k := koanf.New(".")
	if err := k.Load(file.Provider(path), literalYAML{}); err != nil {
		return nil, nil, fmt.Errorf("reading the configuration file %s: %w", path, err)
	}
	values := map[string]any{}
	var warnings []string
	for key, value := range k.All() {
		if !slices.ContainsFunc(Options(), func(o Option) bool { return o.Key == key }) {
			warnings = append(warnings, fmt.Sprintf("the configuration file has an unknown key %s, which is ignored", key))
			continue
		}
		values[key] = value
	}
	slices.Sort(warnings)
	return values, warnings, nil
}

// Namespaces returns the namespaces to work in; none means all.
func (o Operator) Namespaces() []string {
	var names []string
	for name := range strings.SplitSeq(o.WatchNamespace, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
