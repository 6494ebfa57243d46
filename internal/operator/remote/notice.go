package remote

import (
	"context"
	"errors"
	"sync"
)

// Notice says that an object may have changed and should be looked at again. It carries no more than where to look.
type Notice struct {
	Kind Kind
	// ID is the id that a resource records: an endpoint's name, the decimal id of credentials, a UUID, or an instance's
	// name. Empty in a resync.
	ID string
	// NaturalKey is what EndpointKey, CredentialsKey, RepositoryKey, OrganizationKey, EnterpriseKey and InstanceKey return;
	// of a pool its id, of a provider its name.
	NaturalKey string
	// Parent is the pool id of an instance and the entity id of a pool.
	Parent string
}

// Resync says that everything of Kind should be looked at again: the session's state changed, a kind became known, or
// there were too many notices to tell them one by one.
func (n Notice) Resync() bool { return n.ID == "" }

// ErrClosed is returned by Subscription.Next after Close.
var ErrClosed = errors.New("subscription closed")

const maxPendingNotices = 8192

// Subscription collects notices until they are taken. Equal notices are told once; it never blocks the session and
// never holds more than a bounded number.
type Subscription struct {
	kinds map[Kind]bool
	drop  func()
	wake  chan struct{}

	mu      sync.Mutex
	pending map[Notice]struct{}
	order   []Notice
	closed  bool
}

// Next waits for notices and takes them, oldest first. It fails with the context's error or ErrClosed.
func (s *Subscription) Next(ctx context.Context) ([]Notice, error) {
	for {
		s.mu.Lock()
		taken, closed := s.order, s.closed
		if len(taken) > 0 {
			s.order = nil
			clear(s.pending)
		}
		s.mu.Unlock()
		if len(taken) > 0 {
			return taken, nil
		}
		if closed {
			return nil, ErrClosed
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.wake:
		}
	}
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.drop()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Subscription) add(n Notice) {
	if !s.kinds[n.Kind] {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if _, ok := s.pending[n]; ok {
		return
	}
	if len(s.order) >= maxPendingNotices {
		s.order = s.order[:0]
		clear(s.pending)
		for k := range s.kinds {
			r := Notice{Kind: k}
			s.pending[r] = struct{}{}
			s.order = append(s.order, r)
		}
	} else {
		s.pending[n] = struct{}{}
		s.order = append(s.order, n)
	}
	s.signal()
}

// hub spreads notices over subscriptions.
type hub struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

func (h *hub) subscribe(kinds []Kind) *Subscription {
	s := &Subscription{kinds: map[Kind]bool{}, wake: make(chan struct{}, 1), pending: map[Notice]struct{}{}}
	for _, k := range kinds {
		s.kinds[k] = true
	}
	s.drop = func() {
		h.mu.Lock()
		delete(h.subs, s)
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = map[*Subscription]struct{}{}
	}
	h.subs[s] = struct{}{}
	return s
}

func (h *hub) publish(notices ...Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		for _, n := range notices {
			s.add(n)
		}
	}
}

// resync tells every subscription to look at everything again.
func (h *hub) resync() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		for k := range s.kinds {
			s.add(Notice{Kind: k})
		}
	}
}
