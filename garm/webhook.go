package garm

// Webhook endpoint types. Servers accept both and install the direct one.
const (
	WebhookDirect = "direct"
	WebhookTunnel = "tunnel"
)

// InstallWebhookParams is the body of POST on the webhook of a repository or organization.
type InstallWebhookParams struct {
	WebhookEndpointType string `json:"webhook_endpoint_type,omitempty"`
	// InsecureSSL makes the forge accept any certificate of the server.
	InsecureSSL bool `json:"insecure_ssl"`
	// ReplaceURL is an extension of this project's server; others ignore it and answer 409. It is the URL of a webhook that
	// may be changed in place to what a new one would be, with the present URL and secret. The server's own webhook may
	// then be changed, too, whatever its URL.
	ReplaceURL string `json:"replace_url,omitempty"`
}

// HookInfo is a webhook at the forge.
type HookInfo struct {
	ID          int64    `json:"id"`
	URL         string   `json:"url"`
	Events      []string `json:"events"`
	Active      bool     `json:"active"`
	InsecureSSL bool     `json:"insecure_ssl"`
}
