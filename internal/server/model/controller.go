package model

import "time"

// DefaultJobBackoff is how long a queued job waits for an idle runner before one is made for it.
const DefaultJobBackoff = 30 * time.Second

// Controller is the one row about the server itself.
type Controller struct {
	ID          ControllerID
	MetadataURL string
	CallbackURL string
	WebhookURL  string
	// AgentURL is empty where it was never set; it is then derived from CallbackURL.
	AgentURL             string
	AgentReleasesURL     string
	EnableAgentToolsSync bool
	CACertBundle         []byte
	// JobBackoff is in whole seconds.
	JobBackoff time.Duration
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// User is somebody who may use the API.
type User struct {
	ID           UserID
	Username     string
	Email        string
	FullName     string
	PasswordHash []byte
	Enabled      bool
	IsAdmin      bool
	// Generation is part of each token; raising it makes all earlier tokens void.
	Generation uint
	CreatedAt  time.Time
	UpdatedAt  time.Time
}
