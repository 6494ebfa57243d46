package garm

import "time"

// Forge types of an endpoint or credential. An empty value means ForgeGitHub.
const (
	ForgeGitHub = "github"
	ForgeGitea  = "gitea"
)

// Endpoint is a GitHub installation: github.com or a GitHub Enterprise Server.
type Endpoint struct {
	// Name identifies the endpoint; it is compared without letter case.
	Name          string `json:"name"`
	Description   string `json:"description"`
	APIBaseURL    string `json:"api_base_url"`
	UploadBaseURL string `json:"upload_base_url"`
	BaseURL       string `json:"base_url"`
	// CACertBundle holds PEM certificates that are trusted besides the system's.
	CACertBundle []byte `json:"ca_cert_bundle,omitempty"`
	// CreatedAt and UpdatedAt exist since v0.1.6; before they are zero.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// EndpointType is a forge type; it exists since v0.2.
	EndpointType string `json:"endpoint_type"`
}

// CreateEndpointParams is the body of POST /github/endpoints.
type CreateEndpointParams struct {
	Name          string `json:"name"`
	Description   string `json:"description"`
	APIBaseURL    string `json:"api_base_url"`
	UploadBaseURL string `json:"upload_base_url"`
	BaseURL       string `json:"base_url"`
	CACertBundle  []byte `json:"ca_cert_bundle,omitempty"`
}

// UpdateEndpointParams is the body of PUT /github/endpoints/{name}. A nil field stays as it is. CACertBundle is a
// pointer so that an empty bundle can be sent; whether a server then clears it depends on its release.
type UpdateEndpointParams struct {
	Description   *string `json:"description,omitempty"`
	APIBaseURL    *string `json:"api_base_url,omitempty"`
	UploadBaseURL *string `json:"upload_base_url,omitempty"`
	BaseURL       *string `json:"base_url,omitempty"`
	CACertBundle  *[]byte `json:"ca_cert_bundle,omitempty"`
}
