package garm

import "time"

// Auth types of GitHub credentials.
const (
	AuthTypePAT = "pat"
	AuthTypeApp = "app"
)

// Credentials is what GARM shows of GitHub credentials. The secret itself is never returned.
type Credentials struct {
	ID            uint   `json:"id"`
	Name          string `json:"name"`
	Description   string `json:"description"`
	APIBaseURL    string `json:"api_base_url"`
	UploadBaseURL string `json:"upload_base_url"`
	BaseURL       string `json:"base_url"`
	CABundle      []byte `json:"ca_bundle,omitempty"`
	// AuthType is AuthTypePAT or AuthTypeApp. Answers spell the key with a hyphen, requests with an underscore.
	AuthType  string    `json:"auth-type"`
	ForgeType string    `json:"forge_type"`
	Endpoint  Endpoint  `json:"endpoint"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Repositories, Organizations and Enterprises use these credentials. Only GET by id fills them.
	Repositories  []Repository   `json:"repositories,omitempty"`
	Organizations []Organization `json:"organizations,omitempty"`
	Enterprises   []Enterprise   `json:"enterprises,omitempty"`
	// RateLimit is what GitHub last said; it exists since v0.2.
	RateLimit *RateLimit `json:"rate_limit,omitempty"`
}

// RateLimit is GitHub's allowance for credentials. Reset is in Unix seconds.
type RateLimit struct {
	Limit     int   `json:"limit"`
	Used      int   `json:"used"`
	Remaining int   `json:"remaining"`
	Reset     int64 `json:"reset"`
}

// PAT is a personal access token. It is a secret.
type PAT struct {
	OAuth2Token string `json:"oauth2_token"`
}

// App authenticates as an installed GitHub App. PrivateKey is a PEM RSA key and a secret.
type App struct {
	AppID          int64  `json:"app_id"`
	InstallationID int64  `json:"installation_id"`
	PrivateKey     []byte `json:"private_key_bytes"`
}

// String keeps the token out of logs and error texts.
func (PAT) String() string { return "[redacted]" }

// GoString keeps the token out of logs and error texts.
func (PAT) GoString() string { return "[redacted]" }

// String keeps the key out of logs and error texts.
func (App) String() string { return "[redacted]" }

// GoString keeps the key out of logs and error texts.
func (App) GoString() string { return "[redacted]" }

// CreateCredentialsParams is the body of POST /github/credentials.
type CreateCredentialsParams struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Endpoint    string `json:"endpoint"`
	AuthType    string `json:"auth_type"`
	PAT         *PAT   `json:"pat,omitempty"`
	App         *App   `json:"app,omitempty"`
}

// UpdateCredentialsParams is the body of PUT /github/credentials/{id}. A nil field stays as it is; endpoint and auth
// type cannot be changed.
type UpdateCredentialsParams struct {
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
	PAT         *PAT    `json:"pat,omitempty"`
	App         *App    `json:"app,omitempty"`
}
