package webhookcert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"
)

// A certificate is shown at once where there is none, and else once everybody has trusted its authority for long enough.
func TestServing(t *testing.T) {
	start := time.Now()
	s := newServing(10 * time.Second)
	certificate := func(name string, end time.Duration) *tls.Certificate {
		return &tls.Certificate{Certificate: [][]byte{[]byte(name)}, Leaf: &x509.Certificate{NotAfter: start.Add(end)}}
	}
	if s.check() == nil {
		t.Error("ready without a certificate")
	}
	hour := time.Hour
	for _, step := range []struct {
		name        string
		at          time.Duration
		certificate string
		authority   string
		trusted     bool
		rest        time.Duration
		shown       string
	}{
		{"the first", 0, "one", "a", false, 0, "one"},
		{"the same, trusted now", 1 * time.Second, "one", "a", true, 0, "one"},
		{"another of the same authority, soon", 5 * time.Second, "two", "a", true, 6 * time.Second, "one"},
		{"another of the same authority", 12 * time.Second, "two", "a", true, 0, "two"},
		{"of another authority that is not trusted", 20 * time.Second, "three", "b", false, 10 * time.Second, "two"},
		{"that is trusted now", 21 * time.Second, "three", "b", true, 10 * time.Second, "two"},
		{"that somebody has put aside", 25 * time.Second, "three", "b", false, 10 * time.Second, "two"},
		{"that is trusted again", 26 * time.Second, "three", "b", true, 10 * time.Second, "two"},
		{"for long enough", 36 * time.Second, "three", "b", true, 0, "three"},
		{"what is shown has ended", 2 * hour, "four", "c", false, 0, "four"},
	} {
		rest := s.offer(certificate(step.certificate, hour), []byte(step.authority), step.trusted, start.Add(step.at))
		got, err := s.get(t.Context())
		if err != nil || rest != step.rest || string(got.Certificate[0]) != step.shown {
			t.Fatalf("%s: %s more, shown %s, %v", step.name, rest, got.Certificate[0], err)
		}
	}
}

// Who comes before there is a certificate waits for it, and no longer than it likes, nor for ever.
func TestServingBeforeTheFirst(t *testing.T) {
	s := newServing(time.Second)
	s.patience = time.Millisecond
	if _, err := s.get(t.Context()); err == nil {
		t.Error("a certificate out of nothing, for who would wait for ever")
	}
	s.patience = patience
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.get(ended); err == nil {
		t.Error("a certificate out of nothing")
	}
	got := make(chan error, 1)
	go func() { _, err := s.get(t.Context()); got <- err }()
	s.offer(&tls.Certificate{Certificate: [][]byte{nil}, Leaf: &x509.Certificate{}}, nil, false, time.Now())
	if err := <-got; err != nil {
		t.Error(err)
	}
}
