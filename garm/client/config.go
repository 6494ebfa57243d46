package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of Config.
const (
	DefaultTimeout      = 30 * time.Second
	DefaultPingInterval = 30 * time.Second
	DefaultPongTimeout  = 10 * time.Second
)

// Config says which server a Client speaks to, and as whom.
type Config struct {
	// BaseURL is the address of the server, such as https://garm.example.com. The API is expected under its path plus
	// /api/v1.
	BaseURL string
	// Username and Password log in. Password is asked at each login, so that a changed secret is found.
	Username string
	Password func(ctx context.Context) (string, error)
	// Init allows the client to make the administrator of a server that has none, with the name and password above, and
	// Email and FullName.
	Init     bool
	Email    string
	FullName string

	// CABundle holds PEM certificates that are trusted besides the system's.
	CABundle []byte
	// ClientCertificate is shown to servers that ask for one; nil shows none.
	ClientCertificate *tls.Certificate
	// Timeout bounds each call, and the opening of an event stream; DefaultTimeout if zero.
	Timeout time.Duration
	// PingInterval and PongTimeout find event streams whose peer is gone; the defaults apply if zero.
	PingInterval time.Duration
	PongTimeout  time.Duration
	// UserAgent is sent with each request; "garm-operator" if empty.
	UserAgent string
	// Transport replaces the connection, and with it CABundle and ClientCertificate.
	Transport http.RoundTripper
	// Metrics is told of every request; nil tells nobody.
	Metrics Recorder
}

// Password returns a Config.Password that is always the same.
func Password(value string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return value, nil }
}

// New makes a client. It does not speak to the server yet; an error names the field of the configuration that is wrong.
func New(config Config) (*Client, error) {
	base, err := parseBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if config.Username == "" {
		return nil, errors.New("username: must not be empty")
	}
	if config.Password == nil {
		return nil, errors.New("password: must be given")
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.PingInterval <= 0 {
		config.PingInterval = DefaultPingInterval
	}
	if config.PongTimeout <= 0 {
		config.PongTimeout = DefaultPongTimeout
	}
	if config.UserAgent == "" {
		config.UserAgent = "garm-operator"
	}
	if config.Metrics == nil {
		config.Metrics = discard{}
	}
	if config.Transport == nil {
		if config.Transport, err = newTransport(config); err != nil {
			return nil, err
		}
	}
	c := &Client{
		config: config,
		base:   base,
		http: &http.Client{
			Transport: config.Transport,
			// A redirect would turn a POST into a GET, or carry the token to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	return c, nil
}

// parseBaseURL returns the address of the API. Its errors do not repeat the value, which may hold a password.
func parseBaseURL(value string) (string, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil:
		return "", errors.New("base URL: not a URL; it looks like https://garm.example.com")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("base URL: must begin with http:// or https://")
	case u.Hostname() == "":
		return "", errors.New("base URL: has no host")
	case u.User != nil:
		return "", errors.New("base URL: must not hold a user or password; they have fields of their own")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("base URL: must not have a query or fragment")
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/") + "/api/v1", nil
}

func newTransport(config Config) (http.RoundTripper, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(config.CABundle) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the system's certificates: %w", err)
		}
		if !pool.AppendCertsFromPEM(config.CABundle) {
			return nil, errors.New("CA bundle: holds no PEM certificate")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	if config.ClientCertificate != nil {
		transport.TLSClientConfig.Certificates = []tls.Certificate{*config.ClientCertificate}
	}
	return transport, nil
}
