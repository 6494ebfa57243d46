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
		unready     bool
	}{
		{"the first", 0, "one", "a", false, 10 * time.Second, "one", true},
		{"the same, trusted now", 1 * time.Second, "one", "a", true, 10 * time.Second, "one", true},
		{"another of the same authority, soon", 5 * time.Second, "two", "a", true, 6 * time.Second, "one", true},
		{"the same, trusted for long enough", 11 * time.Second, "one", "a", true, 0, "one", false},
		{"another of the same authority", 12 * time.Second, "two", "a", true, 0, "two", false},
		{"of another authority that is not trusted", 20 * time.Second, "three", "b", false, 10 * time.Second, "two", false},
		{"that is trusted now", 21 * time.Second, "three", "b", true, 10 * time.Second, "two", false},
		{"that somebody has put aside", 25 * time.Second, "three", "b", false, 10 * time.Second, "two", false},
		{"that is trusted again", 26 * time.Second, "three", "b", true, 10 * time.Second, "two", false},
		{"for long enough", 36 * time.Second, "three", "b", true, 0, "three", false},
		{"what is shown has ended", 2 * hour, "four", "c", false, 0, "four", false},
	} {
		rest := s.offer(certificate(step.certificate, hour), []byte(step.authority), step.trusted, start.Add(step.at))
		got, err := s.get(t.Context())
		if err != nil || rest != step.rest || string(got.Certificate[0]) != step.shown {
			t.Fatalf("%s: %s more, shown %s, %v", step.name, rest, got.Certificate[0], err)
		}
		if err := s.check(); (err != nil) != step.unready {
			t.Fatalf("%s: ready is %v", step.name, err)
		}
	}
}

// A process that finds its authority trusted is ready at once: an earlier one has told everybody.
func TestServingAfterAnother(t *testing.T) {
	s := newServing(time.Hour)
	if rest := s.offer(&tls.Certificate{Certificate: [][]byte{nil}, Leaf: &x509.Certificate{}}, []byte("a"), true, time.Now()); rest != 0 || s.check() != nil {
		t.Errorf("%s more, %v", rest, s.check())
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
