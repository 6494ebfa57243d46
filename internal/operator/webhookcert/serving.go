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
	// callable says that callers have trusted what is shown for long enough, once.
	callable bool
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

var errUntrusted = errors.New("the API server has not been told yet, or not for long enough, to trust the certificate of the webhook server")

// check says whether there is a certificate that callers trust. Once there was, there is: what comes after it is shown only when
// callers are ready for it.
func (s *serving) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.current == nil:
		return errNone
	case !s.callable:
		return errUntrusted
	}
	return nil
}

// offer shows a certificate once all callers have trusted its authority for long enough, at once where there is nothing else
// to show. It returns after how long to offer it again, 0 when that is not needed.
func (s *serving) offer(certificate *tls.Certificate, authority []byte, trusted bool, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !trusted:
		s.authority = nil
	case !bytes.Equal(s.authority, authority):
		s.authority, s.trustedSince = authority, now
		if s.current == nil {
			s.trustedSince = time.Time{} // an earlier process has told them
		}
	}
	rest := s.settle
	if trusted {
		rest = max(0, s.settle-now.Sub(s.trustedSince))
	}
	if s.current != nil && !bytes.Equal(s.current.Certificate[0], certificate.Certificate[0]) && now.Before(s.current.Leaf.NotAfter) && rest > 0 {
		return rest
	}
	if s.current == nil {
		close(s.ready)
	}
	s.current = certificate
	s.callable = s.callable || rest == 0
	if s.callable {
		return 0
	}
	return rest
}
