package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say how to replay.
type Options struct {
	// URL is the base of the server, without /api/v1 and without a trailing slash. Required.
	URL string
	// PublicURL is what <garm-url> stands for. Default: URL.
	PublicURL string
	// ForgeURL is where the simulated forge answers. Required.
	ForgeURL string
	// InstanceToken returns the token that the server gave to the provider for a runner.
	InstanceToken func(runner string) (string, error)
	// User, Password and Email are what first-run is called with. They have defaults.
	User, Password, Email string
	// Strict counts keys that only the tested server sends, and [] where null was recorded, as differences.
	Strict bool
	// AnyDetails leaves the wording of error details free.
	AnyDetails bool
	// SkipFaults leaves exchanges in which the recorded server answered 500 or nothing out of the report. They are sent.
	SkipFaults bool
	// PollInterval is the time between two attempts at a polled exchange. Default 200 ms.
	PollInterval time.Duration
	// ClientWait is how long a reading or deleting request of a client is repeated until states and lengths of lists
	// agree: who recorded the client waited between commands. Default 45 s.
	ClientWait time.Duration
}

// Replayer holds what one conversation has shown so far.
type Replayer struct {
	options   Options
	bound     Bindings
	sockets   map[string]*socket
	transport *http.Transport
}

// New makes a replayer for one fresh server.
func New(options Options) (*Replayer, error) {
	options.URL = strings.TrimSuffix(options.URL, "/")
	for value, fallback := range map[*string]string{
		&options.PublicURL: options.URL, &options.User: "admin", &options.Password: "xK9-pQ2v_Lm7zR4w", &options.Email: "admin@example.com",
	} {
		if *value == "" {
			*value = fallback
		}
	}
	if options.PollInterval == 0 {
		options.PollInterval = 200 * time.Millisecond
	}
	if options.ClientWait == 0 {
		options.ClientWait = 45 * time.Second
	}
	public, err := url.Parse(options.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("address of the server: %w", err)
	}
	forge, err := url.Parse(options.ForgeURL)
	if err != nil {
		return nil, fmt.Errorf("address of the forge: %w", err)
	}
	return &Replayer{
		options: options,
		bound: Bindings{
			"garm-url": options.PublicURL, "garm-host": public.Host, "forge-url": options.ForgeURL, "forge-host": forge.Host,
			"admin-user": options.User, "admin-password": options.Password, "admin-email": options.Email,
		},
		sockets: map[string]*socket{},
		// A connection a request, so that nothing is repeated behind our back.
		transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}, nil
}

// Close ends the websockets that are still open.
func (r *Replayer) Close() {
	for id := range r.sockets {
		r.closeSocket(id)
	}
	r.transport.CloseIdleConnections()
}

// Run sends the exchanges in order and reports how far the answers agree. The server is brought to the state that the
// topic "setup" leaves if the exchanges do not begin with a first run. It fails if ctx ends, or in that set-up.
func (r *Replayer) Run(ctx context.Context, exchanges []Exchange) (*Report, error) {
	if needsSetup(exchanges) {
		if err := r.setUp(ctx); err != nil {
			return nil, err
		}
	}
	report := &Report{}
	for _, e := range exchanges {
		if err := context.Cause(ctx); err != nil {
			return report, fmt.Errorf("replaying %s: %w", e, err)
		}
		if e.Websocket {
			continue
		}
		found := r.exchange(ctx, e)
		if r.options.SkipFaults && e.Fault() {
			continue
		}
		report.add(Result{Exchange: e, Differences: found})
	}
	return report, nil
}

// exchange replays one exchange and returns what differs.
func (r *Replayer) exchange(ctx context.Context, e Exchange) []Difference {
	if e.WS != "" {
		return r.step(ctx, e)
	}
	until := time.Now().Add(r.patience(e))
	for {
		a, err := r.send(ctx, e)
		if err != nil {
			return notSent(err)
		}
		found, bound := judge(e, a, r.bound, r.options)
		if !pending(e, found) || !time.Now().Before(until) || !pause(ctx, r.options.PollInterval) {
			r.bound = bound
			return found
		}
	}
}

// patience is how long an exchange is repeated.
func (r *Replayer) patience(e Exchange) time.Duration {
	switch {
	case e.Poll != nil:
		return time.Duration(e.Poll.Timeout * float64(time.Second))
	case e.Command != "" && (e.Method == http.MethodGet || e.Method == http.MethodDelete):
		return r.options.ClientWait
	}
	return 0
}

// pause waits, and says whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func notSent(err error) []Difference {
	return []Difference{{Status, "$", "not sent: " + err.Error()}}
}

// lookup finds the value of a placeholder for a request.
func (r *Replayer) lookup(name string) (string, error) {
	if value, known := r.bound[name]; known {
		return value, nil
	}
	if placeholder, ok := strings.CutPrefix(name, "instance-token:"); ok {
		runner, err := r.lookup(placeholder)
		if err != nil {
			return "", err
		}
		if r.options.InstanceToken == nil {
			return "", &UnboundError{Name: name, Err: errors.New("there is no provider to ask")}
		}
		token, err := r.options.InstanceToken(runner)
		if err != nil {
			return "", &UnboundError{Name: name, Err: err}
		}
		return token, nil
	}
	if name == "app-private-key" {
		key, err := newAppKey()
		if err != nil {
			return "", &UnboundError{Name: name, Err: err}
		}
		r.bound[name] = key
		return key, nil
	}
	return "", &UnboundError{Name: name}
}
