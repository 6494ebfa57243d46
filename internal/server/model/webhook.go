package model

import "strings"

// Webhook is a webhook of an entity at its forge.
type Webhook struct {
	ID          int64
	URL         string
	Events      []string
	Active      bool
	InsecureSSL bool
}

// WebhookConfig is what the forge is told of a webhook. Secret is a secret.
type WebhookConfig struct {
	URL         string
	Secret      string
	InsecureSSL bool
}

// String keeps the secret out of logs.
func (WebhookConfig) String() string { return "[redacted]" }

// GoString keeps the secret out of logs.
func (WebhookConfig) GoString() string { return "[redacted]" }

// OwnWebhookURL is where forges send what is meant for this controller; empty where no webhook URL is set.
func (c Controller) OwnWebhookURL() string {
	if c.WebhookURL == "" {
		return ""
	}
	return strings.TrimSuffix(c.WebhookURL, "/") + "/" + string(c.ID)
}
