package service

import (
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
	// Now is the clock.
	Now func() time.Time

	passwords passwords
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
