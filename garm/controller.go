package garm

import "time"

// ControllerInfo describes a GARM server. It is the answer of GET /controller-info and of /controller.
type ControllerInfo struct {
	// ControllerID is the UUID that a server draws once, when its database is made. It is the identity of the server:
	// ids of endpoints, entities, pools and runners mean something only together with it.
	ControllerID string `json:"controller_id"`
	// Hostname is the host that the server runs on; empty in the answer of an update.
	Hostname string `json:"hostname"`
	// MetadataURL is where runners fetch what they need to start.
	MetadataURL string `json:"metadata_url"`
	// CallbackURL is where runners report their state.
	CallbackURL string `json:"callback_url"`
	// WebhookURL is the base of the address that GitHub posts webhooks to.
	WebhookURL string `json:"webhook_url"`
	// ControllerWebhookURL is WebhookURL with the controller id appended.
	ControllerWebhookURL string `json:"controller_webhook_url"`
	// MinimumJobAgeBackoff is how long, in seconds, a queued job waits for an idle runner before one is made for it.
	MinimumJobAgeBackoff uint `json:"minimum_job_age_backoff"`
	// Version is the release of the server, such as v0.1.5.
	Version string `json:"version"`

	// AgentURL and the fields below exist since v0.2.
	AgentURL                    string     `json:"agent_url"`
	AgentReleasesURL            string     `json:"garm_agent_releases_url"`
	EnableAgentToolsSync        bool       `json:"enable_agent_tools_sync"`
	CACertBundle                []byte     `json:"ca_cert_bundle,omitempty"`
	CachedAgentReleaseFetchedAt *time.Time `json:"cached_garm_agent_release_fetched_at,omitempty"`
}

// UpdateControllerParams is the body of PUT /controller. A nil field stays as it is.
type UpdateControllerParams struct {
	MetadataURL          *string `json:"metadata_url,omitempty"`
	CallbackURL          *string `json:"callback_url,omitempty"`
	WebhookURL           *string `json:"webhook_url,omitempty"`
	MinimumJobAgeBackoff *uint   `json:"minimum_job_age_backoff,omitempty"`

	// AgentURL and the fields below are read since v0.2.
	AgentURL             *string `json:"agent_url,omitempty"`
	AgentReleasesURL     *string `json:"garm_agent_releases_url,omitempty"`
	EnableAgentToolsSync *bool   `json:"enable_agent_tools_sync,omitempty"`
	CACertBundle         []byte  `json:"ca_cert_bundle,omitempty"`
	ClearCACertBundle    *bool   `json:"clear_ca_cert_bundle,omitempty"`
}

// Provider is a configured way of making runner instances.
type Provider struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}
