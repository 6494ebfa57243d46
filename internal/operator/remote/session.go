package remote

import (
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// maxRestRequests is how many requests a minute a session makes when nothing happens and events arrive.
const maxRestRequests = 8

// Session keeps one GARM server. It is a runnable of a controller-runtime manager that runs on the leader only. Listers,
// writers and subscriptions may be taken at any time, before Start, too.
type Session struct {
	opts   Options
	client Client
	hub    hub
	writes *semaphore.Weighted
	// controller is held by whoever reads or changes the controller, so that no answer from before a change is taken for later.
	controller *semaphore.Weighted
	poke       chan struct{}
	doubt      chan struct{}
	budget     *window

	mu    sync.RWMutex
	state State
	view  *View
}

// New makes a session that reads and writes through client.
func New(client Client, opts Options) *Session {
	opts = opts.withDefaults()
	return &Session{
		opts:       opts,
		client:     client,
		writes:     semaphore.NewWeighted(int64(opts.WritesInFlight)),
		controller: semaphore.NewWeighted(1),
		poke:       make(chan struct{}, 1),
		doubt:      make(chan struct{}, 1),
		budget:     &window{span: time.Minute, max: maxRestRequests},
		state:      State{Phase: PhaseConnecting, Identity: Identity{Server: opts.Server}, Since: time.Now()},
	}
}

// NeedLeaderElection says that only the leader talks to the server.
func (s *Session) NeedLeaderElection() bool { return true }

// State returns what is known of the server's availability.
func (s *Session) State() State {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state
}

// Metrics returns what is told of what happens at the server.
func (s *Session) Metrics() Metrics { return s.opts.Metrics }

// View returns what is known of the server under its present controller id; nil until the server answered once. It stays
// readable while the server is down.
func (s *Session) View() *View {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.view
}

// Subscribe collects notices of the kinds from now on. A change of the session's phase or identity is a resync of each.
func (s *Session) Subscribe(kinds ...Kind) *Subscription { return s.hub.subscribe(kinds) }

// Poke makes a session that is not ready try again at once, and a ready one read the controller again.
func (s *Session) Poke() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}
