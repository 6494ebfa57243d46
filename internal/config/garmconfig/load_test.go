package garmconfig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/config/garmconfig"
)

// valid returns a configuration that is right, with the lines of extra replacing its own by key.
func valid(t *testing.T, replace ...string) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, garmconfig.LegacyProgram)
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`[default]
callback_url = "https://garm.example.com/api/v1/callbacks"
enable_log_streamer = true
[logging]
log_level = "debug"
[metrics]
enable = true
[jwt_auth]
secret = "Mq8#vLz2-rT5xWn9_kPb4"
time_to_live = "1h"
[apiserver]
bind = "127.0.0.1"
port = 9997
[database]
backend = "sqlite3"
passphrase = "kX7-vR2_mQ9wL4zT8bN6jH3gF5dS1aPy"
[database.sqlite3]
db_file = "%s/garm.db"
[[provider]]
name = "sim"
provider_type = "external"
[provider.external]
provider_executable = "%s"
`, dir, program)
	return strings.NewReplacer(replace...).Replace(text)
}

func TestValid(t *testing.T) {
	config, warnings, err := garmconfig.Parse(valid(t))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %v", err, warnings)
	}
	if got := time.Duration(config.JWTAuth.TimeToLive); got != garmconfig.MinTokenLife {
		t.Errorf("tokens live %s, want the minimum", got)
	}
	if !config.LogStreamer() {
		t.Error("the old place of enable_log_streamer has no effect")
	}
	if config.Logging.LogFormat != "text" || time.Duration(config.Metrics.Period) != time.Minute {
		t.Errorf("defaults are missing: %+v %+v", config.Logging, config.Metrics)
	}
}

func TestLegacyProviderDir(t *testing.T) {
	text := valid(t, "provider_executable", "provider_dir", "/"+garmconfig.LegacyProgram, "")
	config, _, err := garmconfig.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(config.Providers[0].External.Program()); got != garmconfig.LegacyProgram {
		t.Errorf("program %q", got)
	}
}

func TestUnknownKeysWarn(t *testing.T) {
	_, warnings, err := garmconfig.Parse(valid(t, "[metrics]", "[proxy]\nhttp_proxy = \"x\"\n[[github]]\nname = \"old\"\n[metrics]"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"the key proxy is unknown and is ignored", "the key proxy.http_proxy is unknown and is ignored",
		"the section github has no effect; add credentials through the API",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// A login in a URL goes on working, and a warning says where it is, but not what it is.
func TestLoginInURLWarns(t *testing.T) {
	config, warnings, err := garmconfig.Parse(valid(t, "https://garm.example.com", "https://user:hunter2@garm.example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(config.Default.CallbackURL, "hunter2@") {
		t.Errorf("the URL has become %q", config.Default.CallbackURL)
	}
	said := strings.Join(warnings, "\n")
	if !strings.Contains(said, "default.callback_url holds a user or password") || strings.Contains(said, "hunter2") {
		t.Errorf("the warnings are %q", said)
	}
}

func TestFaultsNameTheKey(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string
		want    string
	}{
		"weak secret":       {[]string{"Mq8#vLz2-rT5xWn9_kPb4", "password"}, "jwt_auth.secret: "},
		"no life":           {[]string{`time_to_live = "1h"`, ""}, "jwt_auth.time_to_live: "},
		"bad life":          {[]string{`"1h"`, `"tomorrow"`}, `key "jwt_auth.time_to_live"`},
		"bind":              {[]string{"127.0.0.1", "localhost"}, "apiserver.bind: must be an IP address"},
		"port":              {[]string{"9997", "0"}, "apiserver.port: "},
		"tls":               {[]string{"port = 9997", "port = 9997\nuse_tls = true"}, "apiserver.tls: "},
		"backend":           {[]string{"sqlite3\"\npass", "mysql\"\npass"}, "database.backend: must be sqlite3"},
		"short passphrase":  {[]string{"kX7-vR2_mQ9wL4zT8bN6jH3gF5dS1aPy", "short"}, "database.passphrase: must have exactly 32"},
		"weak passphrase":   {[]string{"kX7-vR2_mQ9wL4zT8bN6jH3gF5dS1aPy", strings.Repeat("a", 32)}, "database.passphrase: is too easy"},
		"relative file":     {[]string{"db_file = \"", "db_file = \"x"}, "database.sqlite3.db_file: must be an absolute path"},
		"provider type":     {[]string{`"external"`, `"internal"`}, "provider sim: provider_type must be external"},
		"no program":        {[]string{garmconfig.LegacyProgram, "absent"}, "provider sim: external.provider_executable: "},
		"interface":         {[]string{"[provider.external]", "[provider.external]\ninterface_version = \"v9\""}, "external.interface_version: "},
		"log level":         {[]string{`"debug"`, `"loud"`}, "logging.log_level: "},
		"callback url":      {[]string{"https://garm.example.com", ""}, "default.callback_url: must be a URL"},
		"second of a name":  {[]string{"[[provider]]", "[[provider]]\nname = \"sim\"\n[[provider]]"}, "name is taken"},
		"syntax, no secret": {[]string{`_kPb4"`, `_kPb4`}, "line 9"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := garmconfig.Parse(valid(t, c.replace...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "vLz2") || strings.Contains(err.Error(), "mQ9wL4") {
				t.Errorf("a secret stands in the error: %v", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[default]\n")
	f.Add("[[provider]]\nname=\"x\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = garmconfig.Parse(text) // must not panic
	})
}
