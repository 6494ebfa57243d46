package webhookcert

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"time"
)

// patience is how long a caller that comes too early is kept waiting. No API server waits longer, and nobody is told when one has
// gone: without an end its handshake would stay for ever.
const patience = 30 * time.Second

// serving is the certificate that this process shows.
type serving struct {
	settle, patience time.Duration
	// ready is closed when there is one.
	ready chan struct{}

	mu      sync.Mutex
	current *tls.Certificate
	// authority is the last one that all callers were seen to trust, since the time of trustedSince.
	authority    []byte
	trustedSince time.Time
}

func newServing(settle time.Duration) *serving {
	return &serving{settle: settle, patience: patience, ready: make(chan struct{})}
}

// get returns the certificate to show. A caller that comes before there is one waits for it, within bounds.
func (s *serving) get(ctx context.Context) (*tls.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, errNone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, nil
}

var errNone = errors.New("the webhook server has no certificate yet")

// check says whether there is a certificate.
func (s *serving) check() error {
	select {
	case <-s.ready:
		return nil
	default:
		return errNone
	}
}

// offer shows a certificate once all callers have trusted its authority for long enough, at once where there is nothing else
// to show. It returns how long that takes, 0 when it is shown.
func (s *serving) offer(certificate *tls.Certificate, authority []byte, trusted bool, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !trusted:
		s.authority = nil
	case !bytes.Equal(s.authority, authority):
		s.authority, s.trustedSince = authority, now
	}
	if s.current != nil && bytes.Equal(s.current.Certificate[0], certificate.Certificate[0]) {
		return 0
	}
	if s.current != nil && now.Before(s.current.Leaf.NotAfter) {
		if !trusted {
			return s.settle
		}
		if rest := s.settle - now.Sub(s.trustedSince); rest > 0 {
			return rest
		}
	}
	if s.current == nil {
		close(s.ready)
	}
	s.current = certificate
	return 0
}
