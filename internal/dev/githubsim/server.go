package githubsim

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Server is a simulated GitHub. It is safe for concurrent use.
type Server struct {
	opt     Options
	handler http.Handler
	http    *http.Server
	address string
	ctx     context.Context // ends with Close; carries deliveries and sessions
	cancel  context.CancelFunc
	group   sync.WaitGroup
	mailman mailman

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change of state
	state   state
}

// state is everything that Server.mu guards.
type state struct {
	lastID       map[string]int64 // by kind of thing
	tokens       map[string]*bearer
	revoked      map[string]bool
	limits       map[string]*limit
	registration map[string]registration
	hooks        []*hook
	runners      []*runner // in the order of their ids
	runnerTokens map[string]*runner
	jobs         []*job                // in the order of their ids
	outbox       map[int64][]*Delivery // by hook
	deliveries   []*Delivery
	faults       []*fault
	calls        map[string]int
	history      []Call
}

// New makes a simulator. It serves through Handler at once; Start gives it a listener of its own.
func New(opt Options) *Server {
	s := &Server{opt: opt.withDefaults(), changed: make(chan struct{}), mailman: newMailman()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.state = state{
		lastID: map[string]int64{"job": 100, "run": 1000}, tokens: map[string]*bearer{}, revoked: map[string]bool{},
		limits: map[string]*limit{}, registration: map[string]registration{}, outbox: map[int64][]*Delivery{}, runnerTokens: map[string]*runner{}, calls: map[string]int{},
	}
	for token, about := range s.opt.Tokens {
		s.state.tokens[token] = &bearer{login: about.Login, limit: about.RateLimit}
	}
	s.address = s.opt.BaseURL
	s.handler = s.routes()
	return s
}

// Start listens and serves until Close.
func (s *Server) Start() error {
	var config net.ListenConfig
	listener, err := config.Listen(s.ctx, "tcp", s.opt.Listen)
	if err != nil {
		return fmt.Errorf("starting the GitHub simulator: %w", err)
	}
	scheme := "http"
	address := listener.Addr().String()
	if s.opt.TLS != nil {
		scheme, listener = "https", tls.NewListener(listener, s.opt.TLS)
	}
	s.mu.Lock()
	s.address = scheme + "://" + address
	s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second}
	server := s.http
	s.mu.Unlock()
	s.group.Go(func() { _ = server.Serve(listener) })
	return nil
}

// Handler serves the simulator. Where it is used without Start, Options.BaseURL should say where it is reached.
func (s *Server) Handler() http.Handler { return s.handler }

// URL is the address that the server listens on, without a trailing slash. It is the base URL of a GitHub endpoint; the
// API is found below it with and without /api/v3.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// publicURL is the address that answers and payloads show. Callers hold no lock or hold mu through publicURLLocked.
func (s *Server) publicURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publicURLLocked()
}

func (s *Server) publicURLLocked() string {
	if s.opt.BaseURL != "" {
		return s.opt.BaseURL
	}
	return s.address
}

// Close ends all sessions and deliveries, frees the port and waits until everything has stopped.
func (s *Server) Close() {
	s.cancel()
	s.mu.Lock()
	server := s.http
	s.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
	s.group.Wait()
	s.mailman.close()
}

// WaitFor returns nil as soon as condition is true, which is asked at once and after every change of jobs, runners,
// hooks, deliveries and calls. It fails when ctx or the server ends first.
func (s *Server) WaitFor(ctx context.Context, condition func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the GitHub simulator: %w", context.Cause(ctx))
		case <-s.ctx.Done():
			return fmt.Errorf("waiting for the GitHub simulator: %w", net.ErrClosed)
		}
	}
}

// change tells everybody who waits that something is new. The caller holds mu.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// nextID counts the things of a kind. The caller holds mu.
func (s *Server) nextID(kind string) int64 {
	s.state.lastID[kind]++
	return s.state.lastID[kind]
}

// keepLast drops the oldest entries of a history.
func keepLast[T any](list []T, limit int) []T {
	if extra := len(list) - limit; extra > 0 {
		return slices.Delete(list, 0, extra)
	}
	return list
}
