package github

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// client is a logged-in client of one endpoint.
type client struct {
	version   version
	github    *github.Client
	transport *http.Transport
	timeout   time.Duration

	mu     sync.Mutex
	groups map[groupKey]int64
}

type groupKey struct{ scope, name string }

func newClient(o Options, credentials model.Credentials, secret model.ForgeSecret) (*client, error) {
	base, err := apiBase(credentials.Endpoint.APIBaseURL)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(o.Transport, credentials.Endpoint.CACertBundle)
	if err != nil {
		return nil, err
	}
	options := []github.ClientOptionsFunc{
		github.WithURLs(&base, &base), github.WithUserAgent(o.UserAgent), github.WithTransport(transport),
	}
	switch credentials.AuthType {
	case model.AuthApp:
		app, err := ghinstallation.New(transport, secret.AppID, secret.InstallationID, secret.PrivateKey)
		if err != nil {
			// The library's error may quote the key.
			return nil, errors.New("the private key of the App is not a PEM RSA key")
		}
		app.BaseURL = strings.TrimSuffix(base, "/")
		options = append(options, github.WithTransport(app))
	default:
		if secret.Token == "" {
			return nil, errors.New("the personal access token is empty")
		}
		options = append(options, github.WithAuthToken(secret.Token))
	}
	made, err := github.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("making a GitHub client: %w", err)
	}
	return &client{github: made, transport: transport, timeout: o.Timeout, groups: map[groupKey]int64{}}, nil
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// apiBase returns the root of the API with a slash at the end. The API of a GitHub Enterprise Server lies below /api/v3,
// which users leave out.
func apiBase(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("the API base URL %q of the endpoint has to have a scheme and a host", weburl.WithoutLogin(text))
	}
	u.User = nil // never sent, since each call has a token, but errors would show it
	u.Path = strings.TrimSuffix(u.Path, "/") + "/"
	if !strings.HasSuffix(u.Path, "/api/v3/") && !strings.HasPrefix(u.Host, "api.") && !strings.Contains(u.Host, ".api.") {
		u.Path += "api/v3/"
	}
	return u.String(), nil
}

func newTransport(base *http.Transport, ca []byte) (*http.Transport, error) {
	if base == nil {
		var ok bool
		if base, ok = http.DefaultTransport.(*http.Transport); !ok {
			return nil, errors.New("the default HTTP transport has been replaced")
		}
	}
	transport := base.Clone()
	if len(ca) == 0 {
		return transport, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("the CA bundle of the endpoint holds no PEM certificate")
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// call makes one request below the API's root and decodes the answer into result, which may be nil.
//
// The time it may take is the context's, not the HTTP client's: the library does not close the body of an answer that is an error,
// until when the client would wait for the end of its time.
func (c *client) call(ctx context.Context, op, method, path string, body, result any) (*github.Response, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.github.NewRequest(bounded, method, path, body)
	if err != nil {
		return nil, failed(op, err)
	}
	res, err := c.github.Do(req, result)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s", c.timeout)
	}
	if err != nil {
		return res, failed(op, err)
	}
	return res, nil
}
