package model

import "time"

// ForgeType says what software runs at an endpoint.
type ForgeType string

// Forge types.
const (
	ForgeGitHub ForgeType = "github"
	ForgeGitea  ForgeType = "gitea"
)

// Endpoint is an installation of a forge.
type Endpoint struct {
	Name          EndpointName
	Type          ForgeType
	Description   string
	APIBaseURL    string
	UploadBaseURL string
	BaseURL       string
	// CACertBundle holds PEM certificates that are trusted besides the system's.
	CACertBundle []byte
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// AuthType says how credentials prove themselves to the forge.
type AuthType string

// Auth types.
const (
	AuthPAT AuthType = "pat"
	AuthApp AuthType = "app"
)

// Credentials is a login at an endpoint, without its secret.
type Credentials struct {
	ID          CredentialsID
	Name        string
	Description string
	Endpoint    Endpoint
	AuthType    AuthType
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// Revision counts changes of the secret, so that holders of a client know when to make a new one.
	Revision uint64
}

// ForgeSecret is the secret part of credentials; the store keeps it sealed. Either Token is set, or the App fields are.
type ForgeSecret struct {
	Token          string
	AppID          int64
	InstallationID int64
	PrivateKey     []byte // PEM
}

// String keeps the secret out of logs and error texts.
func (ForgeSecret) String() string { return "[redacted]" }

// GoString keeps the secret out of logs and error texts.
func (ForgeSecret) GoString() string { return "[redacted]" }
