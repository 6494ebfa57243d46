package githubsim

import (
	"crypto/rsa"
	"crypto/tls"
	"log/slog"
	"time"
)

// Options configure a Server. The zero value is a GitHub that accepts every token and has room for tests.
type Options struct {
	// Listen is the address of Start. Default "127.0.0.1:0", a free port.
	Listen string
	// Tokens are the personal access tokens that are accepted. Nil accepts every token.
	Tokens map[string]Token
	// Apps are the registered GitHub Apps.
	Apps []App
	// BaseURL is the web address that payloads and answers show, without a trailing slash. Empty means the address
	// that the server listens on, which suits everything but a simulator behind a proxy.
	BaseURL string
	// TLS makes the server speak HTTPS.
	TLS *tls.Config
	// RateLimit is the number of calls that a token has in a RateWindow. Defaults: 5000 and one hour.
	RateLimit  int
	RateWindow time.Duration
	// RunnerGroups are the groups of every organization and enterprise, besides "Default". Their ids count from 2.
	RunnerGroups []string
	// Enterprises says which enterprise an organization belongs to: its slug by the organization's login. One that is
	// not listed belongs to none.
	Enterprises map[string]string
	// DeliveryTimeout is how long the receiver of a webhook has for its answer. Default 10 seconds, as at GitHub.
	DeliveryTimeout time.Duration
	// History is how many finished jobs, deliveries and calls are kept, of each. Default 2000.
	History int
	// Log gets one line for each job, runner and hook that changes. Default: nothing is logged.
	Log *slog.Logger
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Token is a personal access token.
type Token struct {
	// Login is the user that it belongs to.
	Login string
	// RateLimit overrides Options.RateLimit where it is not 0.
	RateLimit int
}

// App is a GitHub App.
type App struct {
	ID int64
	// ClientID may stand for the id in the App's own tokens.
	ClientID string
	// PublicKey verifies what the App signs.
	PublicKey *rsa.PublicKey
	// Installations are the ids of the places where it is installed.
	Installations []int64
	// TokenLife is how long an installation token is good. Default one hour.
	TokenLife time.Duration
}

func (o Options) withDefaults() Options {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.RateLimit == 0 {
		o.RateLimit = 5000
	}
	if o.RateWindow == 0 {
		o.RateWindow = time.Hour
	}
	if o.DeliveryTimeout == 0 {
		o.DeliveryTimeout = 10 * time.Second
	}
	if o.History == 0 {
		o.History = 2000
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
