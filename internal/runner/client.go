package runner

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/garm-operator/garm-operator/garm"
)

const (
	// callTimeout bounds one try, retryFor all tries of one call.
	callTimeout = 30 * time.Second
	retryFor    = 5 * time.Minute
	maxAnswer   = 1 << 20
)

// server is GARM as a machine sees it.
type server struct {
	metadata string
	callback string
	token    string
	http     *http.Client
	// pause is the first pause between two tries; it grows from there.
	pause time.Duration
}

func newServer(c Config) (*server, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if c.CACertFile != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pem, err := os.ReadFile(c.CACertFile)
		if err != nil {
			return nil, fmt.Errorf("reading the CA certificates: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the CA certificates: %s holds no PEM certificate", c.CACertFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	callback := strings.TrimSuffix(strings.TrimRight(c.CallbackURL, "/"), "/status")
	return &server{
		metadata: strings.TrimRight(c.MetadataURL, "/"), callback: callback, token: c.Token,
		http: &http.Client{Transport: transport}, pause: 500 * time.Millisecond,
	}, nil
}

// refusedError is an answer that is not a success.
type refusedError struct{ status int }

func (e *refusedError) Error() string {
	return "the server answered " + strconv.Itoa(e.status) + " " + http.StatusText(e.status)
}

// status reports the runner's state.
func (s *server) status(ctx context.Context, update garm.StatusUpdate) error {
	_, err := s.call(ctx, http.MethodPost, s.callback+"/status", update)
	if err != nil {
		return fmt.Errorf("reporting that the runner is %s: %w", update.Status, err)
	}
	return nil
}

// systemInfo reports where the runner runs.
func (s *server) systemInfo(ctx context.Context, info garm.SystemInfo) error {
	if _, err := s.call(ctx, http.MethodPost, s.callback+"/system-info", info); err != nil {
		return fmt.Errorf("reporting the operating system: %w", err)
	}
	return nil
}

// credential fetches one file of a just-in-time configuration.
func (s *server) credential(ctx context.Context, name string) ([]byte, error) {
	data, err := s.call(ctx, http.MethodGet, s.metadata+"/credentials/"+name, nil)
	if err != nil {
		return nil, fmt.Errorf("fetching the file .%s: %w", name, err)
	}
	return data, nil
}

// registrationToken fetches the token by which the runner registers. The server gives it out once.
func (s *server) registrationToken(ctx context.Context) (string, error) {
	data, err := s.call(ctx, http.MethodGet, s.metadata+"/runner-registration-token", nil)
	token := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return "", fmt.Errorf("fetching the registration token: %w", err)
	case token == "":
		return "", errors.New("fetching the registration token: the answer is empty")
	}
	return token, nil
}

// call tries until the server answers, refuses for good, or the time is over.
func (s *server) call(ctx context.Context, method, address string, body any) ([]byte, error) {
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval = s.pause
	return backoff.Retry(ctx, func() ([]byte, error) { return s.try(ctx, method, address, body) },
		backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(retryFor))
}

func (s *server) try(ctx context.Context, method, address string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, backoff.Permanent(err)
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode/100 != 2 {
		return nil, refusal(response)
	}
	return data, err
}

// refusal says how to go on after an answer that is not a success: a server that is overloaded or broken may recover,
// one that says no will go on to say no.
func refusal(response *http.Response) error {
	refused := &refusedError{status: response.StatusCode}
	switch {
	case response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable:
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			return backoff.RetryAfter(seconds)
		}
		return refused
	case response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusRequestTimeout:
		return refused
	}
	return backoff.Permanent(refused)
}
