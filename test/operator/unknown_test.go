package operator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// OP-1, OP-2: equal Pools whose creates are carried out although no answer arrives, with a restart in the middle: as many
// pools as Pools in the end, none claimed twice.
func TestOP2LostAnswers(t *testing.T) {
	t.Parallel()
	const n = 24
	e := setup(t).run()
	base := e.Base()
	e.apply(base...)
	e.ready(base...)
	remove := e.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: "/organizations/{id}/pools", Times: n / 3, Drop: true, Late: true})
	pools := e.EqualPools(n)
	e.apply(pools...)
	e.eventually(func() error {
		if have := len(e.pools()); have < n/2 {
			return fmt.Errorf("%d pools so far", have)
		}
		return nil
	})
	e.stop()
	remove()
	e.run()
	ctx, cancel := context.WithTimeout(e.ctx, deadline)
	defer cancel()
	ready, err := e.WaitAllReady(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, p := range ready {
		if other := ids[p.Status.ID]; other != "" {
			t.Errorf("%s and %s have the same pool", other, p.Name)
		}
		ids[p.Status.ID] = p.Name
	}
	for _, p := range e.pools() {
		if ids[p.ID] == "" {
			t.Errorf("pool %s has no Pool", p.ID)
		}
	}
	counts := e.Proxy.Counts()
	if deleted := counts.Of("DELETE", "/pools/{id}", 0); deleted > 0 {
		t.Errorf("%d pools were deleted", deleted)
	}
	t.Logf("%d requests: %s", counts.Requests(), counts)
}

// Many Pools at once, for either generation of server: one create each, few requests, nothing changed by them once more.
func TestManyPoolsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20 // test/scale does it with 200
	eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
		e := setup(t)
		e.Proxy.Speak(dialect)
		e.run()
		began := time.Now()
		e.apply(append(e.Base(), e.Pools(n)...)...)
		ctx, cancel := context.WithTimeout(e.ctx, deadline)
		defer cancel()
		if _, err := e.WaitAllReady(ctx, n); err != nil {
			t.Fatal(err)
		}
		counts := e.Proxy.Counts()
		t.Logf("%s for %d Pools, %d requests", time.Since(began), n, counts.Requests())
		if got := counts.Of("POST", "/organizations/{id}/pools", 200); got != n || len(e.pools()) != n {
			t.Errorf("%d creates, %d pools", got, len(e.pools()))
		}
		if got := counts.Requests(); got > n+30 {
			t.Errorf("%d requests:\n%s", got, counts)
		}
	})
}
