package service

import (
	"log/slog"
	"net/url"
	"time"
)

// Service carries out the use cases.
type Service struct {
	Store     Store
	Engine    Engine
	Forges    Forges
	Tokens    Tokens
	Providers []Provider
	// ManageWebhooks lets webhooks be installed at the forge, and makes them go with their entity.
	ManageWebhooks bool
	// PasswordCost is the bcrypt cost of new password hashes; 0 for bcrypt's default.
	PasswordCost int
	// Log is where a service tells what it could not tell a caller.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time

	passwords    passwords
	webhookLocks entityLocks
}

// isURL says whether a text is a URL with a scheme and a host.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != ""
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
