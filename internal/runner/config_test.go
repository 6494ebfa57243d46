package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/runner"
)

func TestConfigFromEnv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"METADATA_URL": "http://garm.test/api/v1/metadata", "CALLBACK_URL": "http://garm.test/api/v1/callbacks", "INSTANCE_TOKEN_FILE": file,
		"RUNNER_URL": "http://github.test/octo-org", "RUNNER_NAME": "one", "RUNNER_LABELS": "a,b", "RUNNER_READY_TIMEOUT": "5s",
		"RUNNER_CONFIGURE_COMMAND": `["/with blank/agent", "configure"]`,
	}
	getenv := func(name string) string { return env[name] }
	got, err := runner.ConfigFromEnv(getenv, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := runner.Config{
		MetadataURL: "http://garm.test/api/v1/metadata", CallbackURL: "http://garm.test/api/v1/callbacks", Token: "from-file",
		URL: "http://github.test/octo-org", Name: "one", Labels: []string{"a", "b"}, Dir: ".", Configure: []string{"/with blank/agent", "configure"},
		Run: []string{"./run.sh"}, ReadyLine: "Listening for Jobs", ReadyTimeout: 5 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	env["INSTANCE_TOKEN_FILE"] = "-"
	got, err = runner.ConfigFromEnv(getenv, strings.NewReader("from-stdin"), nil)
	if err != nil || got.Token != "from-stdin" {
		t.Errorf("token is %q, error %v", got.Token, err)
	}
}

func TestBadConfigNamesTheVariable(t *testing.T) {
	good := map[string]string{
		"METADATA_URL": "http://garm.test/m", "CALLBACK_URL": "http://garm.test/c", "INSTANCE_TOKEN_FILE": "-",
		"RUNNER_URL": "http://github.test/octo-org", "RUNNER_NAME": "one",
	}
	for name, value := range map[string]string{
		"METADATA_URL": "", "CALLBACK_URL": "garm.test/c", "INSTANCE_TOKEN_FILE": "/does/not/exist", "RUNNER_URL": "", "RUNNER_NAME": "",
		"JIT_CONFIG_ENABLED": "perhaps", "RUNNER_READY_TIMEOUT": "-1s",
		"RUNNER_CONFIGURE_COMMAND": `["a"`,
	} {
		t.Run(name, func(t *testing.T) {
			getenv := func(asked string) string {
				if asked == name {
					return value
				}
				return good[asked]
			}
			_, err := runner.ConfigFromEnv(getenv, strings.NewReader("token"), nil)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want an error about %s", err, name)
			}
		})
	}
}
