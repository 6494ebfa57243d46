// Package webhook holds the manifests that make the API server call the operator's webhooks, for tests and for the embedded
// environment.
package webhook

import _ "embed" // for the manifests

// Manifests is the ValidatingWebhookConfiguration. Its calls go to the Service webhook-service in the namespace system, which an
// installation replaces.
//
//go:embed manifests.yaml
var Manifests []byte
