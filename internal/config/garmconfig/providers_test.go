package garmconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
)

func TestLoadProviders(t *testing.T) {
	program := filepath.Join(t.TempDir(), "machines")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	good := "[[provider]]\nname = \"local\"\nprovider_type = \"external\"\n[provider.external]\nprovider_executable = \"" + program + "\"\n"
	for name, c := range map[string]struct {
		text     string
		warnings []string
		fault    string
	}{
		"alone": {text: good},
		"in a whole configuration": {
			text:     good + "colour = \"blue\"\n[database]\npassphrase = \"topsecret\"\n[jwt_auth]\nsecret = \"topsecret\"\n",
			warnings: []string{"the key provider.external.colour is unknown and is ignored", "database has no effect here; only provider sections are read", "jwt_auth has no effect here; only provider sections are read"},
		},
		"none":        {text: "[database]\npassphrase = \"topsecret\"\n", warnings: []string{"database has no effect here; only provider sections are read"}, fault: "there is no [[provider]] section"},
		"two alike":   {text: good + good, fault: "provider local: name is taken"},
		"no program":  {text: strings.Replace(good, program, "/absent/machines", 1), fault: "provider local: external.provider_executable"},
		"no TOML":     {text: "[[provider\n", fault: "line 2"},
		"wrong value": {text: "[[provider]]\nname = 3\n", fault: "provider"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "providers.toml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			providers, warnings, err := garmconfig.LoadProviders(path)
			if diff := cmp.Diff(c.warnings, warnings); diff != "" {
				t.Error(diff)
			}
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), path) {
					t.Errorf("error %v, want one with the path and %q", err, c.fault)
				}
				return
			}
			if err != nil || len(providers) != 1 || providers[0].External.Executable != program {
				t.Errorf("%+v, %v", providers, err)
			}
		})
	}
	if _, _, err := garmconfig.LoadProviders("/absent/providers.toml"); err == nil {
		t.Error("a missing file is no error")
	}
}
