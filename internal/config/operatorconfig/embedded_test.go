package operatorconfig_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
)

// The operator uses a GARM server or runs one; anything else is an error that names both ways.
func TestEmbeddedServer(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  []string
		want []string
	}{
		"alone":                     {args: []string{"--embedded-server"}},
		"by environment":            {env: []string{"OPERATOR_EMBEDDED_SERVER=true", "OPERATOR_EMBEDDED_SERVER_URL=http://garm:9997"}},
		"by file":                   {args: []string{"--config=" + writeFile(t, "embeddedServer:\n  enabled: true\n  dataDir: /data\n")}},
		"flag beats environment":    {args: []string{"--embedded-server=false", "--garm-server=http://garm", "--garm-username=a", "--garm-password=b"}, env: []string{"OPERATOR_EMBEDDED_SERVER=true"}},
		"with an administrator":     {args: []string{"--embedded-server", "--garm-username=boss", "--garm-password-file=/run/password"}},
		"neither":                   {want: []string{"garm.server", "--garm-server", "--embedded-server"}},
		"both":                      {args: []string{"--embedded-server", "--garm-server=http://garm"}, want: []string{"garm.server", "--garm-server", "--embedded-server"}},
		"relative directory":        {args: []string{"--embedded-server", "--embedded-server-data-dir=data"}, want: []string{"embeddedServer.dataDir: must be an absolute path"}},
		"no directory":              {args: []string{"--embedded-server", "--embedded-server-data-dir="}, want: []string{"embeddedServer.dataDir: must be an absolute path"}},
		"no port":                   {args: []string{"--embedded-server", "--embedded-server-listen-address=0.0.0.0"}, want: []string{"embeddedServer.listenAddress: must be host:port"}},
		"a name to listen at":       {args: []string{"--embedded-server", "--embedded-server-listen-address=garm:9997"}, want: []string{"embeddedServer.listenAddress: must have an IP address"}},
		"URL without scheme":        {args: []string{"--embedded-server", "--embedded-server-url=garm:9997"}, want: []string{"embeddedServer.url: must be a URL such as"}},
		"other URLs":                {args: []string{"--embedded-server", "--embedded-server-metadata-url=/x", "--embedded-server-callback-url=y", "--embedded-server-webhook-url=ftp://z"}, want: []string{"embeddedServer.metadataUrl", "embeddedServer.callbackUrl", "embeddedServer.webhookUrl"}},
		"login in the URL":          {args: []string{"--embedded-server", "--embedded-server-url=https://admin:s3cret@garm"}, want: []string{"embeddedServer.url: must not hold a user or password"}},
		"login in other URLs":       {args: []string{"--embedded-server", "--embedded-server-metadata-url=https://s3cret@garm", "--embedded-server-callback-url=https://a:s3cret%@garm"}, env: []string{"OPERATOR_EMBEDDED_SERVER_WEBHOOK_URL=http://a:s3cret@garm/webhooks"}, want: []string{"embeddedServer.metadataUrl: must not hold", "embeddedServer.callbackUrl: must not hold", "embeddedServer.webhookUrl: must not hold"}},
		"relative file":             {args: []string{"--embedded-server", "--embedded-server-providers-file=p.toml"}, want: []string{"embeddedServer.providersFile: must be an absolute path"}},
		"faults without the server": {args: []string{"--garm-server=http://garm", "--garm-username=a", "--garm-password=b", "--embedded-server-data-dir=data"}},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := operatorconfig.Load(c.args, c.env, &bytes.Buffer{})
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if embedded := loaded.Config.GARM.Server == ""; loaded.Config.EmbeddedServer.Enabled != embedded {
					t.Errorf("the server is embedded: %v", loaded.Config.EmbeddedServer.Enabled)
				}
				return
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("the error repeats a password")
			}
			for _, text := range c.want {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want one with %q", err, text)
				}
			}
		})
	}
}
