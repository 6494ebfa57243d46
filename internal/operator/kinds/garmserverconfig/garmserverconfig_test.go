package garmserverconfig

import (
	"testing"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// OP-62: a URL that does not lead to where the server listens is noticed, whatever stands before the path.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct{ field, url, want string }{
		{"webhookUrl", "https://garm.example.com/webhooks", ""},
		{"webhookUrl", "https://example.com/garm/webhooks/", ""},
		{"webhookUrl", "https://garm.example.com/webhook", "/webhooks"},
		{"webhookUrl", "https://garm.example.com/api/v1/webhook", "/webhooks"},
		{"webhookUrl", "https://garm.example.com", "/webhooks"},
		{"metadataUrl", "http://garm:9997/api/v1/metadata", ""},
		{"metadataUrl", "http://garm:9997/metadata", "/api/v1/metadata"},
		{"callbackUrl", "http://garm:9997/api/v1/callbacks", ""},
		{"callbackUrl", "http://garm:9997/api/v1/callbacks/status", "/api/v1/callbacks"},
	} {
		u := v1beta1.URL(c.url)
		if got := elsewhere(c.field, v1beta1.GarmServerConfigSpec{MetadataURL: u, CallbackURL: u, WebhookURL: u}); got != c.want {
			t.Errorf("%s %s: %q", c.field, c.url, got)
		}
	}
}
