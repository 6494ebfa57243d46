package operator

import (
	"bytes"
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// --dry-run, --config, --help and what cannot be run: each ends at once, with its exit code, and contacts nothing.
func TestMainEndsAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("operator:\n  watchNamespace: from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	login := []string{"--garm-server=http://127.0.0.1:1", "--garm-username=admin", "--garm-password=s3cret"}
	for name, c := range map[string]struct {
		args           []string
		environ        []string
		code           int
		stdout, stderr string
	}{
		"dry run":        {args: append([]string{"--dry-run", "--config=" + file}, login...), stdout: "watchNamespace: from-file # file"},
		"its warnings":   {args: append([]string{"--dry-run"}, login...), environ: []string{"OPERATOR_TYPO=1"}, stdout: "garm:", stderr: "OPERATOR_TYPO is unknown"},
		"help":           {args: []string{"--help"}, stderr: "--operator-sync-period"},
		"unknown flag":   {args: []string{"--no-such-flag"}, code: 2, stderr: "no-such-flag"},
		"bad flag value": {args: []string{"--operator-sync-period=often"}, code: 2, stderr: "operator-sync-period"},
		"no server":      {code: 1, stderr: "--embedded-server"},
		"no such file":   {args: append([]string{"--config=" + file + ".gone"}, login...), code: 1, stderr: ".gone"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := Main(t.Context(), c.args, c.environ, &stdout, &stderr)
			if code != c.code || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("code %d, output %q, errors %q", code, stdout.String(), stderr.String())
			}
			if strings.Contains(stdout.String()+stderr.String(), "s3cret") {
				t.Error("the password is shown")
			}
		})
	}
}

// --log-format json: what libraries write to the standard log is JSON, too.
func TestStandardLog(t *testing.T) {
	before, writer, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(writer)
		log.SetFlags(flags)
	})
	var out bytes.Buffer
	standardLog(logger(operatorconfig.Operator{LogFormat: "json"}, &out))
	log.Default().Print("http: TLS handshake error from 192.0.2.1:1234: EOF")
	var line struct{ Level, Msg string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Level != "INFO" || !strings.Contains(line.Msg, "handshake") {
		t.Errorf("%q is read as %+v: %v", out.String(), line, err)
	}
}

// --operator-webhook-enabled, --operator-webhook-certificates and --operator-webhook-cert-dir: whether webhooks are served, and
// whether the operator makes the certificate.
func TestWebhookFlags(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // without certificates in the usual place
	for name, c := range map[string]struct {
		config        operatorconfig.Operator
		inCluster     bool
		serves, makes bool
	}{
		"auto outside":           {config: operatorconfig.Operator{WebhookEnabled: operatorconfig.WebhookAuto}},
		"auto inside":            {config: operatorconfig.Operator{WebhookEnabled: operatorconfig.WebhookAuto}, inCluster: true, serves: true, makes: true},
		"on outside":             {config: operatorconfig.Operator{WebhookEnabled: "true"}, serves: true, makes: true},
		"off inside":             {config: operatorconfig.Operator{WebhookEnabled: "false"}, inCluster: true},
		"files":                  {config: operatorconfig.Operator{WebhookEnabled: "true", WebhookCertificates: operatorconfig.CertificatesFiles}, serves: true},
		"auto with a directory":  {config: operatorconfig.Operator{WebhookEnabled: "true", WebhookCertDir: t.TempDir()}, serves: true},
		"self-made all the same": {config: operatorconfig.Operator{WebhookEnabled: "true", WebhookCertDir: t.TempDir(), WebhookCertificates: operatorconfig.CertificatesSelfMade}, serves: true, makes: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := serves(c.config, c.inCluster)
			if makes := server && !fromFiles(c.config); server != c.serves || makes != c.makes {
				t.Errorf("serves %t, makes a certificate %t", server, makes)
			}
		})
	}
}
