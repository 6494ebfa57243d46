package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// LegacyProgram is the file name that Config.Dir must hold.
const LegacyProgram = "garm-external-provider"

// DefaultConcurrency is how many programs of one provider run at a time.
const DefaultConcurrency = 16

// Config describes one external provider.
type Config struct {
	Name        string
	Description string
	// Observe is told of every run of the program; nil for nobody.
	Observe func(operation string, err error)
	// Executable is the absolute path of the program. Dir is the old way: a folder that holds LegacyProgram.
	Executable string
	Dir        string
	// ConfigFile is passed to the program; empty where it needs none.
	ConfigFile string
	// Environment are prefixes of the names of variables that the program inherits. Names that begin with GARM never are.
	Environment []string
	// Version is the interface version; empty means provider.Version010.
	Version provider.Version
	// Timeout bounds one run; 0 means the bootstrap timeout of the pool. A longer one than that has no effect.
	Timeout time.Duration
	// DisableJIT makes runners register by token.
	DisableJIT bool
	// Concurrency is how many programs run at a time; 0 means DefaultConcurrency.
	Concurrency int
	// Controller is whose machines these are.
	Controller model.ControllerID
}

// Set is the providers of a server by name.
type Set struct{ byName map[string]*External }

// NewSet checks and opens providers. The variables that programs inherit are captured now, from environ, which has the
// form of os.Environ. Errors name the provider and the setting.
func NewSet(configs []Config, environ []string) (*Set, error) {
	s := &Set{byName: map[string]*External{}}
	for _, c := range configs {
		p, err := New(c, environ)
		if err != nil {
			return nil, fmt.Errorf("provider %q: %w", c.Name, err)
		}
		if s.byName[c.Name] != nil {
			return nil, fmt.Errorf("provider %q is configured twice", c.Name)
		}
		s.byName[c.Name] = p
	}
	return s, nil
}

// Provider implements fleet.Providers.
func (s *Set) Provider(name string) (fleet.Provider, bool) {
	p, ok := s.byName[name]
	if !ok {
		return nil, false
	}
	return p, true
}

// program returns the path of the program, checked.
func (c Config) program() (string, error) {
	path, setting := c.Executable, "provider_executable"
	if path == "" && c.Dir != "" {
		path, setting = filepath.Join(c.Dir, LegacyProgram), "provider_dir"
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s has to be an absolute path, not %q", setting, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s: %s is not an executable file", setting, path)
	}
	return path, nil
}

// inherited returns the variables of environ that the program gets.
func inherited(environ, prefixes []string) []string {
	var out []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "GARM") {
			continue
		}
		if slices.ContainsFunc(prefixes, func(p string) bool { return p != "" && strings.HasPrefix(name, p) }) {
			out = append(out, entry)
		}
	}
	return out
}
