package webhookcert

import (
	"bytes"
	"crypto/tls"
	"errors"
	"sync"
	"time"
)

// serving is the certificate that this process shows.
type serving struct {
	settle time.Duration

	mu      sync.RWMutex
	current *tls.Certificate
	// authority is the last one that all callers were seen to trust, since the time of trustedSince.
	authority    []byte
	trustedSince time.Time
}

// get returns the certificate to show.
func (s *serving) get() (*tls.Certificate, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.current == nil {
		return nil, errors.New("the webhook server has no certificate yet")
	}
	return s.current, nil
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
	s.current = certificate
	return 0
}
