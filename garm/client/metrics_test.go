package client_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
)

type counts struct {
	mu               sync.Mutex
	requests, errors map[string]int
	expiry           time.Time
}

func (c *counts) Request(method string) { c.add(c.requests, method) }
func (c *counts) Error(method string)   { c.add(c.errors, method) }

func (c *counts) add(to map[string]int, method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to[method]++
}

func (c *counts) TokenExpiry(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expiry = at
}

func TestMetrics(t *testing.T) {
	s := newStub()
	s.initialized = false
	m := &counts{requests: map[string]int{}, errors: map[string]int{}}
	c := clientOf(t, s, withInit, func(c *client.Config) { c.Metrics = m })
	s.handle = text(400, `{"error":"Bad Request"}`)
	start := time.Now()
	if _, err := c.CreateOrganizationPool(t.Context(), "o", garm.CreatePoolParams{}); garm.KindOf(err) != garm.KindInvalid {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"Login": 2, "client.Login": 2, "Init": 1, "pool.CreateOrg": 1}, m.requests); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{"Login": 1, "client.Login": 1, "pool.CreateOrg": 1}, m.errors); d != "" {
		t.Error(d)
	}
	if life := m.expiry.Sub(start); life < 59*time.Minute || life > 61*time.Minute {
		t.Errorf("OP-51: the token is said to end in %s, want an hour", life)
	}
}
