package operatorconfig_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// required is the least that a start needs.
var required = []string{"--garm-server=http://garm:9997", "--garm-username=admin", "--garm-password=secret"}

func load(t *testing.T, args, environ []string) (*operatorconfig.Loaded, error) {
	t.Helper()
	return operatorconfig.Load(append(append([]string{}, required...), args...), environ, &bytes.Buffer{})
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The names and defaults that users of the known operator have.
func TestKnownNames(t *testing.T) {
	known := map[string]struct {
		flag, env string
		def       any
	}{
		"garm.server":                      {"garm-server", "GARM_SERVER", ""},
		"garm.username":                    {"garm-username", "GARM_USERNAME", ""},
		"garm.password":                    {"garm-password", "GARM_PASSWORD", ""},
		"garm.init":                        {"garm-init", "GARM_INIT", true},
		"garm.email":                       {"garm-email", "GARM_EMAIL", "garm-operator@localhost"},
		"operator.metricsBindAddress":      {"operator-metrics-bind-address", "OPERATOR_METRICS_BIND_ADDRESS", ":8080"},
		"operator.healthProbeBindAddress":  {"operator-health-probe-bind-address", "OPERATOR_HEALTH_PROBE_BIND_ADDRESS", ":8081"},
		"operator.leaderElection":          {"operator-leader-election", "OPERATOR_LEADER_ELECTION", false},
		"operator.syncPeriod":              {"operator-sync-period", "OPERATOR_SYNC_PERIOD", 5 * time.Minute},
		"operator.watchNamespace":          {"operator-watch-namespace", "OPERATOR_WATCH_NAMESPACE", ""},
		"operator.syncRunnersInterval":     {"operator-sync-runners-interval", "OPERATOR_SYNC_RUNNERS_INTERVAL", 5 * time.Second},
		"operator.minIdleRunnersAge":       {"operator-min-idle-runners-age", "OPERATOR_MIN_IDLE_RUNNERS_AGE", 2 * time.Hour},
		"operator.runnerConcurrency":       {"operator-runner-concurrency", "OPERATOR_RUNNER_CONCURRENCY", 50},
		"operator.repositoryConcurrency":   {"operator-repository-concurrency", "OPERATOR_REPOSITORY_CONCURRENCY", 10},
		"operator.organizationConcurrency": {"operator-organization-concurrency", "OPERATOR_ORGANIZATION_CONCURRENCY", 5},
		"operator.enterpriseConcurrency":   {"operator-enterprise-concurrency", "OPERATOR_ENTERPRISE_CONCURRENCY", 1},
		"operator.poolConcurrency":         {"operator-pool-concurrency", "OPERATOR_POOL_CONCURRENCY", 10},
		"operator.runnerReconciliation":    {"operator-runner-reconciliation", "OPERATOR_RUNNER_RECONCILIATION", false},
		"operator.logVerbosityLevel":       {"operator-log-verbosity-level", "OPERATOR_LOG_VERBOSITY_LEVEL", 0},
	}
	for _, o := range operatorconfig.Options() {
		want, ok := known[o.Key]
		if !ok {
			continue
		}
		delete(known, o.Key)
		if o.Flag != want.flag || o.Env != want.env || o.Default != want.def {
			t.Errorf("%s: flag %s, env %s, default %v; want %s, %s, %v", o.Key, o.Flag, o.Env, o.Default, want.flag, want.env, want.def)
		}
	}
	for key := range known {
		t.Errorf("%s is missing", key)
	}
}

// OP-45: file beats flag beats environment beats default, for every key.
func TestPrecedence(t *testing.T) {
	for _, o := range operatorconfig.Options() {
		if o.Key == "embeddedServer.enabled" {
			continue // it excludes a setting that all others need; TestEmbeddedServer has it
		}
		t.Run("OP-45/"+o.Key, func(t *testing.T) {
			values := samples(o)
			section, name, _ := strings.Cut(o.Key, ".")
			path := writeFile(t, fmt.Sprintf("%s:\n  %s: %s\n", section, name, values[2]))
			flag := fmt.Sprintf("--%s=%s", o.Flag, values[1])
			var environ []string
			if o.Env != "" {
				environ = []string{o.Env + "=" + values[0]}
			}
			others := slices.DeleteFunc(slices.Clone(required), func(given string) bool { return strings.HasPrefix(given, "--"+o.Flag+"=") })
			if partner := partners[o.Key]; partner != "" {
				others = append(others, partner)
			}
			steps := []struct {
				args   []string
				env    []string
				source operatorconfig.Source
				value  string
			}{
				{nil, environ, operatorconfig.SourceEnv, values[0]},
				{[]string{flag}, environ, operatorconfig.SourceFlag, values[1]},
				{[]string{flag, "--config=" + path}, environ, operatorconfig.SourceFile, values[2]},
			}
			if o.Env == "" {
				steps = steps[1:]
			}
			for _, step := range steps {
				loaded, err := operatorconfig.Load(slices.Concat(others, step.args), step.env, &bytes.Buffer{})
				if err != nil {
					t.Fatalf("%s: %v", step.source, err)
				}
				if got := loaded.Sources[o.Key]; got != step.source {
					t.Errorf("source %s, want %s", got, step.source)
				}
				got := fmt.Sprint(show(t, loaded)[section][name])
				if o.Secret {
					got = loaded.Config.GARM.Password // the only one
				}
				if got != step.value {
					t.Errorf("from %s: %v, want %s", step.source, got, step.value)
				}
			}
		})
	}
}

// partners are flags without which a setting is refused.
var partners = map[string]string{"garm.clientCertFile": "--garm-client-key-file=key", "garm.clientKeyFile": "--garm-client-cert-file=certificate"}

// samples returns three valid values of an option, none of which is its default.
func samples(o operatorconfig.Option) [3]string {
	switch o.Default.(type) {
	case bool:
		flip := fmt.Sprint(o.Default != true)
		return [3]string{flip, fmt.Sprint(o.Default), flip}
	case int:
		return [3]string{"2", "3", "4"}
	case time.Duration:
		return [3]string{"10s", "20s", "30s"}
	}
	switch {
	case strings.HasSuffix(o.Key, "Address"):
		return [3]string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
	case o.Key == "operator.logFormat":
		return [3]string{"json", "text", "json"}
	case o.Key == "operator.webhookEnabled":
		return [3]string{"true", "false", "true"}
	case o.Key == "operator.webhookCertificates":
		return [3]string{"files", "self-made", "files"}
	case o.Key == "operator.webhookUrl":
		return [3]string{"https://one:1", "https://two:2", "https://three"}
	}
	return [3]string{"one", "two", "three"}
}

func show(t *testing.T, loaded *operatorconfig.Loaded) map[string]map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := loaded.Show(&out); err != nil {
		t.Fatal(err)
	}
	var shown map[string]map[string]any
	if err := yaml.Unmarshal(out.Bytes(), &shown); err != nil {
		t.Fatalf("what is shown is no YAML: %v\n%s", err, out.String())
	}
	return shown
}

// Names of older releases, and misspelt ones that were documented, work with a warning that tells the present name.
func TestOldNames(t *testing.T) {
	for old, c := range map[string]struct{ value, flag, key, want string }{
		"namespace":                     {"=ci", "operator-watch-namespace", "operator.watchNamespace", "ci"},
		"leader-elect":                  {"", "operator-leader-election", "operator.leaderElection", "true"},
		"sync-period":                   {"=7m", "operator-sync-period", "operator.syncPeriod", "7m0s"},
		"metrics-bind-address":          {"=:1234", "operator-metrics-bind-address", "operator.metricsBindAddress", ":1234"},
		"health-probe-bind-address":     {"=:1235", "operator-health-probe-bind-address", "operator.healthProbeBindAddress", ":1235"},
		"operator-sync-runners":         {"", "operator-runner-reconciliation", "operator.runnerReconciliation", "true"},
		"operator-runner-reconcilation": {"=true", "operator-runner-reconciliation", "operator.runnerReconciliation", "true"},
	} {
		t.Run(old, func(t *testing.T) {
			loaded, err := load(t, []string{"--" + old + c.value}, nil)
			if err != nil {
				t.Fatal(err)
			}
			section, name, _ := strings.Cut(c.key, ".")
			if got := fmt.Sprint(show(t, loaded)[section][name]); got != c.want || loaded.Sources[c.key] != operatorconfig.SourceFlag {
				t.Errorf("%s is %q from %s, want %q", c.key, got, loaded.Sources[c.key], c.want)
			}
			if diff := cmp.Diff([]string{"the flag --" + old + " is an old name of --" + c.flag}, loaded.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
	loaded, err := load(t, []string{"--sync-period=7m", "--operator-sync-period=8m"}, []string{"OPERATOR_RUNNER_RECONCILATION=true", "OPERATOR_RUNNER_RECONCILIATION=false"})
	if err != nil || loaded.Config.Operator.SyncPeriod != 8*time.Minute || loaded.Config.Operator.RunnerReconciliation {
		t.Errorf("an old name beats the present one: %+v, %v", loaded.Config.Operator, err)
	}
}

// OP-46: an unknown name is warned about, wherever it looks like a setting; what Kubernetes sets for Services is no setting, not
// even under the name of one.
func TestUnknownNames(t *testing.T) {
	path := writeFile(t, "operator:\n  synPeriod: 5m\nother:\n  key: x\n")
	loaded, err := load(t, []string{"-v", "3", "--config=" + path}, []string{
		"OPERATOR_RUNNER_RECONCILATION=true", "GARM_TYPO=1", "OPERATOR_SYNCPERIOD=5m", "HOME=/root", "GARMIN=watch",
		"GARM_SERVER_SERVICE_HOST=10.0.0.1", "GARM_SERVER_PORT=tcp://10.0.0.1:9997", "GARM_SERVER_PORT_9997_TCP=tcp://10.0.0.1:9997",
		"GARM_SERVER_PORT_9997_TCP_ADDR=10.0.0.1", "GARM_SERVER_PORT_9997_TCP_PORT=9997", "GARM_SERVER_PORT_9997_TCP_PROTO=tcp",
		"GARM_SERVER_SERVICE_PORT=9997", "GARM_SERVER_SERVICE_PORT_API=9997", "GARM_PORT=tcp://10.0.0.1:80", "OPERATOR_WEBHOOK_PORT=tcp://10.0.0.2:443",
	})
	if err != nil {
		t.Fatal(err)
	}
	o := loaded.Config.Operator
	if !o.RunnerReconciliation {
		t.Error("OP-46: the documented misspelling has no effect")
	}
	if o.LogVerbosityLevel != 3 {
		t.Errorf("OP-44: -v gives level %d", o.LogVerbosityLevel)
	}
	if o.WebhookPort != 9443 {
		t.Errorf("the port of the Service operator-webhook is taken for a setting: %d", o.WebhookPort)
	}
	want := []string{
		"the environment variable GARM_TYPO is unknown and is ignored",
		"the environment variable OPERATOR_RUNNER_RECONCILATION is an old name of OPERATOR_RUNNER_RECONCILIATION",
		"the environment variable OPERATOR_SYNCPERIOD is unknown and is ignored",
		"the configuration file has an unknown key operator.synPeriod, which is ignored",
		"the configuration file has an unknown key other.key, which is ignored",
	}
	if diff := cmp.Diff(want, loaded.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestInvalid(t *testing.T) {
	for name, c := range map[string]struct {
		args, env []string
		want      string
	}{
		"OP-38/interval too short":  {args: []string{"--operator-sync-runners-interval=4s"}, want: "operator.syncRunnersInterval: must be from 5s to 5m"},
		"interval too long":         {args: []string{"--operator-sync-runners-interval=6m"}, want: "operator.syncRunnersInterval"},
		"empty e-mail":              {env: []string{"GARM_EMAIL="}, want: "garm.email: is required while garm.init is true"},
		"bad bool":                  {env: []string{"GARM_INIT=yes"}, want: "garm.init (from environment): true or false is expected"},
		"bad duration":              {env: []string{"OPERATOR_SYNC_PERIOD=5"}, want: "operator.syncPeriod (from environment): a duration"},
		"no host and port":          {args: []string{"--operator-metrics-bind-address=0"}, want: "operator.metricsBindAddress: must be host:port"},
		"no metrics address":        {env: []string{"OPERATOR_METRICS_BIND_ADDRESS="}, want: "operator.metricsBindAddress: must be host:port"},
		"no health address":         {args: []string{"--operator-health-probe-bind-address="}, want: "operator.healthProbeBindAddress: must be host:port"},
		"health port too high":      {args: []string{"--operator-health-probe-bind-address=:65536"}, want: "operator.healthProbeBindAddress: must be host:port"},
		"never synced":              {args: []string{"--operator-sync-period=0s"}, want: "operator.syncPeriod: must be longer than 0"},
		"negative age":              {args: []string{"--operator-min-idle-runners-age=-1s"}, want: "operator.minIdleRunnersAge: must not be negative"},
		"pool concurrency":          {args: []string{"--operator-pool-concurrency=0"}, want: "operator.poolConcurrency: must be at least 1"},
		"runner concurrency":        {env: []string{"OPERATOR_RUNNER_CONCURRENCY=0"}, want: "operator.runnerConcurrency: must be at least 1"},
		"repository concurrency":    {args: []string{"--operator-repository-concurrency=-1"}, want: "operator.repositoryConcurrency: must be at least 1"},
		"organization concurrency":  {args: []string{"--operator-organization-concurrency=0"}, want: "operator.organizationConcurrency: must be at least 1"},
		"enterprise concurrency":    {args: []string{"--operator-enterprise-concurrency=0"}, want: "operator.enterpriseConcurrency: must be at least 1"},
		"bad number":                {env: []string{"OPERATOR_POOL_CONCURRENCY=many"}, want: "operator.poolConcurrency (from environment): a whole number is expected"},
		"verbosity":                 {args: []string{"-v=6"}, want: "operator.logVerbosityLevel: must be from 0 to 5"},
		"negative verbosity":        {env: []string{"OPERATOR_LOG_VERBOSITY_LEVEL=-1"}, want: "operator.logVerbosityLevel: must be from 0 to 5"},
		"log format":                {args: []string{"--log-format=xml"}, want: "operator.logFormat: must be text or json"},
		"webhooks perhaps":          {args: []string{"--operator-webhook-enabled=maybe"}, want: "operator.webhookEnabled: must be true, false or auto"},
		"webhook port":              {args: []string{"--operator-webhook-port=0"}, want: "operator.webhookPort: must be from 1 to 65535"},
		"webhook certificates":      {args: []string{"--operator-webhook-certificates=none"}, want: "operator.webhookCertificates: must be files, self-made or auto"},
		"webhook secret":            {args: []string{"--operator-webhook-secret=A_b"}, want: `operator.webhookSecret: "A_b" is no name of a resource`},
		"webhook configuration":     {args: []string{"--operator-webhook-configuration="}, want: `operator.webhookConfiguration: "" is no name of a resource`},
		"namespace":                 {args: []string{"--operator-watch-namespace=a,B_c"}, want: `operator.watchNamespace: "B_c"`},
		"half a client certificate": {args: []string{"--garm-client-cert-file=x"}, want: "garm.clientCertFile"},
		"address as webhook URL":    {args: []string{"--operator-webhook-url=https://10.0.0.1:9443"}, want: "operator.webhookUrl: must be an https URL with a host name"},
		"login in the webhook URL":  {args: []string{"--operator-webhook-url=https://admin:s3cret@operator"}, want: "operator.webhookUrl: must be an https URL with a host name"},
		"login in the URL":          {args: []string{"--garm-server=https://admin:s3cret@garm"}, want: "garm.server: must not hold a user or password"},
		"login without a scheme":    {args: []string{"--garm-server=admin:s3cret@garm:9997"}, want: "garm.server: must not hold a user or password"},
		"user in the URL":           {args: []string{"--garm-server=http://admin@garm"}, want: "garm.server: must not hold a user or password"},
		"broken login in the URL":   {args: []string{"--garm-server=http://admin:s3cret%zz@garm"}, want: "garm.server: must not hold a user or password"},
		"broken URL":                {args: []string{"--garm-server=http://garm:s3cret"}, want: "garm.server: is not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.args, c.env)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("the error repeats a password")
			}
		})
	}
}

// The ends of what is allowed are allowed.
func TestBounds(t *testing.T) {
	for _, args := range [][]string{
		{"--operator-sync-runners-interval=5s", "--operator-min-idle-runners-age=0s", "-v=5", "--operator-webhook-port=65535"},
		{"--operator-sync-runners-interval=5m", "--operator-sync-period=1ns", "-v=0", "--operator-metrics-bind-address=:65535"},
	} {
		if _, err := load(t, args, nil); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestServerWithoutScheme(t *testing.T) {
	for _, server := range []string{"garm", "garm:9997", "10.0.0.1:9997", "[::1]:9997/prefix"} {
		if _, err := load(t, []string{"--garm-server=" + server}, nil); err != nil {
			t.Errorf("%s: %v", server, err)
		}
	}
}

func TestMissingRequired(t *testing.T) {
	_, err := operatorconfig.Load(nil, nil, &bytes.Buffer{})
	for _, key := range []string{"garm.server", "garm.username", "garm.password"} {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("error %v does not name %s", err, key)
		}
	}
}

func TestUsage(t *testing.T) {
	var usage *operatorconfig.UsageError
	if _, err := load(t, []string{"--no-such-flag"}, nil); !errors.As(err, &usage) {
		t.Errorf("an unknown flag gives %v", err)
	}
	if _, err := load(t, []string{"extra"}, nil); !errors.As(err, &usage) {
		t.Errorf("an argument gives %v", err)
	}
	if _, err := load(t, []string{"--help"}, nil); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("--help gives %v", err)
	}
	if _, err := load(t, []string{"--kubeconfig=/tmp/k"}, nil); err != nil {
		t.Errorf("OP-43: --kubeconfig gives %v", err)
	}
}

func TestFile(t *testing.T) {
	path := writeFile(t, "garm:\n  password: 0123\n  email: # none\noperator:\n  watchNamespace: a, b,a\nother:\n  key: x\n")
	loaded, err := load(t, []string{"--config=" + path, "--garm-init=false"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.Config.GARM.Password; got != "0123" {
		t.Errorf("a numeric password reads back as %q", got)
	}
	if diff := cmp.Diff([]string{"a", "b"}, loaded.Config.Operator.Namespaces()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"the configuration file has an unknown key other.key, which is ignored"}, loaded.Warnings); diff != "" {
		t.Error(diff)
	}
	if _, err := load(t, []string{"--config=" + path + ".missing"}, nil); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestShowMasksSecrets(t *testing.T) {
	loaded, err := load(t, []string{"--dry-run"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !loaded.DryRun {
		t.Error("--dry-run is not seen")
	}
	var out bytes.Buffer
	if err := loaded.Show(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("the password is shown:\n%s", out.String())
	}
	for _, want := range []string{"password: '********' # flag", "syncPeriod: 5m0s # default"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("garm:\n  server: x\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, content string) {
		path := writeFile(t, content)
		_, _ = load(t, []string{"--config=" + path}, nil) // must not panic
	})
}
