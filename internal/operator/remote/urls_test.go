package remote_test

import (
	"testing"

	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// OP-47: the placeholders that earlier operators left at servers are no URLs.
func TestURLMissing(t *testing.T) {
	for url, want := range map[string]bool{
		"":                                                 true,
		"garm.example.com/api/v1/metadata":                 true,
		"https://":                                         true,
		"https://initial.metadata.garm.local":              true,
		"https://initial.callback.garm.local":              true,
		"https://Initial.Webhook.garm.LOCAL":               true,
		"https://initial.metadata.garm.cloud":              true,
		"http://initial.callback.garm.cloud:9997/api":      true,
		"https://garm.local/api/v1/metadata":               false,
		"https://metadata.garm.cloud":                      false,
		"https://initial.example.com":                      false,
		"http://garm.garm-server.svc:9997/api/v1/metadata": false,
	} {
		if got := remote.URLMissing(url); got != want {
			t.Errorf("%q is missing: %t", url, got)
		}
	}
}
