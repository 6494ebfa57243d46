package operator_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// conflicts is a connection to an API server that refuses so many writes of a status, as one does whose object was written
// meanwhile.
type conflicts struct {
	next http.RoundTripper
	left *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c conflicts) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, "/status") || c.left.Add(-1) < 0 {
		return c.next.RoundTrip(r)
	}
	const body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"the object has been modified"}`
	return &http.Response{
		Status: "409 Conflict", StatusCode: http.StatusConflict, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// OP-2: nothing of what is made can be recorded, and the operator is stopped; the next one is refused some more writes, and those of
// a Pool for longer than it tries at once. What was made is found again, for every kind: each object was created once, and its id
// is recorded in the end.
func TestOP2IDsThatAreNotRecorded(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
		e := setup(t)
		e.Proxy.Speak(dialect)
		base := e.Base()
		e.apply(base[0], base[1], base[2], base[6])
		e.run()
		e.ready(base[2])
		e.stop()
		left := &atomic.Int64{}
		left.Store(1 << 40)
		e.wrap = func(next http.RoundTripper) http.RoundTripper { return conflicts{next, left} }
		e.run()
		k := e.kinds()
		rest := k.objects()[:5]
		e.apply(rest...)
		e.eventually(func() error {
			o, err1 := e.GARM.ListOrganizations(e.ctx)
			r, err2 := e.GARM.ListRepositories(e.ctx)
			n, err3 := e.GARM.ListEnterprises(e.ctx)
			if got := len(o) + len(r) + len(n); got != 3 {
				return errors.Join(fmt.Errorf("%d entities at the server", got), err1, err2, err3)
			}
			return nil
		})
		e.stop()
		left.Store(10)
		e.run()
		e.ready(rest...)
		left.Store(8)
		e.apply(k.pool)
		e.ready(k.objects()...)
		if n := left.Load(); n > 0 {
			t.Errorf("%d writes were not refused", n)
		}

		counts := e.Proxy.Counts()
		for _, template := range []string{
			"/github/endpoints", "/github/credentials", "/enterprises", "/organizations", "/repositories", "/organizations/{id}/pools",
		} {
			if n := counts.Of("POST", template, 0); n != 1 {
				t.Errorf("%d POSTs to %s", n, template)
			}
		}
		if pools := e.pools(); len(pools) != 1 || pools[0].ID != k.pool.Status.ID {
			t.Errorf("the server has %+v, the status says %q", pools, k.pool.Status.ID)
		}
		_, err1 := e.GARM.GetEnterprise(e.ctx, k.enterprise.Status.ID)
		_, err2 := e.GARM.GetOrganization(e.ctx, k.organization.Status.ID)
		_, err3 := e.GARM.GetRepository(e.ctx, k.repository.Status.ID)
		_, err4 := e.GARM.GetCredentials(e.ctx, uint(k.credential.Status.ID))
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Error(err)
		}
	})
}
