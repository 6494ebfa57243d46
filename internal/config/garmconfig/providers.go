package garmconfig

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// LoadProviders reads and validates the [[provider]] sections of a file, which may be a whole configuration. The warnings
// name keys that are unknown, and sections that have no effect; they hold no values. The error joins all faults.
func LoadProviders(path string) ([]Provider, []string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the providers: %w", err)
	}
	providers, warnings, err := parseProviders(string(data))
	if err != nil {
		return nil, warnings, fmt.Errorf("providers in %s: %w", path, err)
	}
	return providers, warnings, nil
}

func parseProviders(text string) ([]Provider, []string, error) {
	config := &Config{}
	meta, err := toml.Decode(text, config)
	if err != nil {
		return nil, nil, decodeError(err)
	}
	var warnings []string
	for _, key := range meta.Undecoded() {
		if key[0] == "provider" {
			warnings = append(warnings, fmt.Sprintf("the key %s is unknown and is ignored", key))
		}
	}
	others := map[string]bool{"provider": true}
	for _, key := range meta.Keys() {
		if !others[key[0]] {
			others[key[0]] = true
			warnings = append(warnings, fmt.Sprintf("%s has no effect here; only provider sections are read", key[0]))
		}
	}
	if len(config.Providers) == 0 {
		return nil, warnings, errors.New("there is no [[provider]] section")
	}
	var f faults
	config.validateProviders(&f)
	slices.SortFunc(f, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return config.Providers, warnings, errors.Join(f...)
}
