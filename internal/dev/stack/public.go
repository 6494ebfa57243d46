package stack

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"

	"github.com/garm-operator/garm-operator/internal/dev/devcert"
)

// publicHosts are where the public GitHub is found.
var publicHosts = []string{"github.com", "api.github.com", "uploads.github.com"}

// bePublic makes the simulator speak for the public GitHub, and the server's connections find it.
func (s *Stack) bePublic() error {
	authority, err := devcert.NewAuthority("public GitHub of a test")
	if err != nil {
		return err
	}
	certificate, err := authority.Issue(publicHosts...)
	if err != nil {
		return err
	}
	s.options.GitHub.BaseURL = "https://" + publicHosts[0]
	s.options.GitHub.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.forge = &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			simulator, err := url.Parse(s.GitHub.URL())
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{}).DialContext(ctx, network, simulator.Host)
		},
	}
	return nil
}
