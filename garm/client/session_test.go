package client_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

func TestSession(t *testing.T) {
	t.Run("OP-48 one login per expiry however many callers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			s.life = 2 * time.Second
			c := clientOf(t, s)
			end := time.Now().Add(20 * time.Second)
			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					for time.Now().Before(end) {
						if _, err := c.ListPools(t.Context()); err != nil {
							t.Error(err)
							return
						}
						time.Sleep(50 * time.Millisecond)
					}
				})
			}
			callers.Wait()
			if s.logins != 10 {
				t.Errorf("%d logins in 20 s with tokens of 2 s, want one per token", s.logins)
			}
		})
	})

	for _, old := range []bool{false, true} {
		name := map[bool]string{false: " v0.2", true: " v0.1"}[old]
		t.Run("OP-14 OP-48 first-run again after the database was lost"+name, func(t *testing.T) {
			s := newStub()
			s.old = old
			c := clientOf(t, s, withInit)
			for range 2 {
				s.wipe()
				if _, err := c.ListPools(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if s.firstRuns != 2 {
				t.Errorf("%d first-runs, want 2", s.firstRuns)
			}
			for _, asked := range []string{`"email":"a@example.com"`, `"username":"` + testUser + `"`, `"password":"` + testPassword + `"`} {
				if !strings.Contains(s.firstRun, asked) {
					t.Errorf("the first-run asks for %s, without %s", s.firstRun, asked)
				}
			}
		})
		t.Run("OP-49 no first-run where it is not allowed"+name, func(t *testing.T) {
			s := newStub()
			s.old, s.initialized = old, false
			_, err := clientOf(t, s).ListPools(t.Context())
			want := map[bool]garm.ErrorKind{false: garm.KindInitRequired, true: garm.KindUnauthorized}[old]
			if garm.KindOf(err) != want || s.firstRuns != 0 {
				t.Errorf("kind %v and %d first-runs, want %v and none: %v", garm.KindOf(err), s.firstRuns, want, err)
			}
		})
	}

	t.Run("OP-49 a wrong password is tried once per back-off step", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			s.deny = true
			c := clientOf(t, s, withInit)
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				_, err := c.ListPools(t.Context())
				if garm.KindOf(err) != garm.KindUnauthorized || garm.OutcomeUnknown(err) {
					t.Fatalf("got %v, want an unauthorized error", err)
				}
			}
			// Steps of 1, 2, 4, 8, 16 and 32 s.
			if s.logins != 6 || s.firstRuns != 6 || s.calls != 0 {
				t.Errorf("%d logins, %d first-runs, %d calls in a minute, want 6, 6, 0", s.logins, s.firstRuns, s.calls)
			}
		})
	})

	t.Run("OP-49 another password is tried at once", func(t *testing.T) {
		s := newStub()
		value := "wrong"
		c := clientOf(t, s, password(func() string { return value }))
		if _, err := c.ListPools(t.Context()); garm.KindOf(err) != garm.KindUnauthorized {
			t.Fatalf("got %v", err)
		}
		value = testPassword
		if _, err := c.ListPools(t.Context()); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("OP-49 a server that refuses its own tokens gets one login per back-off step", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			s.forget = true
			c := clientOf(t, s)
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if _, err := c.ListPools(t.Context()); garm.KindOf(err) != garm.KindUnauthorized {
					t.Fatalf("got %v, want an unauthorized error", err)
				}
			}
			if s.logins > 8 {
				t.Errorf("%d logins in a minute", s.logins)
			}
			s.forget = false
			time.Sleep(time.Minute)
			if _, err := c.ListPools(t.Context()); err != nil {
				t.Errorf("after the server is well again: %v", err)
			}
		})
	})

	t.Run("OP-48 a token is renewed before its end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			s.life = 24 * time.Hour
			c := clientOf(t, s)
			for _, step := range []struct {
				wait   time.Duration
				logins int
			}{{0, 1}, {24*time.Hour - 6*time.Minute, 1}, {2 * time.Minute, 2}, {3 * time.Minute, 2}, {time.Hour, 2}} {
				time.Sleep(step.wait)
				if _, err := c.ListPools(t.Context()); err != nil {
					t.Fatal(err)
				}
				if s.logins != step.logins {
					t.Errorf("%d logins %s later, want %d", s.logins, step.wait, step.logins)
				}
			}
			if s.refused != 0 {
				t.Errorf("%d calls came with a token that had ended", s.refused)
			}
		})
	})

	t.Run("a token is good to its end when it cannot be renewed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			s.life = 100 * time.Second
			c := clientOf(t, s)
			if _, err := c.ListPools(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.deny = true
			time.Sleep(95 * time.Second)
			if _, err := c.ListPools(t.Context()); err != nil {
				t.Errorf("before the end: %v", err)
			}
			time.Sleep(10 * time.Second)
			if _, err := c.ListPools(t.Context()); garm.KindOf(err) != garm.KindUnauthorized {
				t.Errorf("after the end: %v", err)
			}
		})
	})

	t.Run("one who gives up does not end the login of the others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStub()
			slow := func() string { time.Sleep(time.Second); return testPassword }
			c := clientOf(t, s, password(slow))
			ctx, cancel := context.WithCancel(t.Context())
			var callers sync.WaitGroup
			callers.Go(func() {
				if _, err := c.ListPools(ctx); !errors.Is(err, context.Canceled) || garm.OutcomeUnknown(err) {
					t.Errorf("the one who gave up: %v", err)
				}
			})
			synctest.Wait()
			callers.Go(func() {
				if _, err := c.ListPools(t.Context()); err != nil {
					t.Errorf("the other: %v", err)
				}
			})
			synctest.Wait()
			cancel()
			callers.Wait()
			if s.logins != 1 {
				t.Errorf("%d logins, want 1", s.logins)
			}
		})
	})

	t.Run("a refused first-run is no word on the object of the call", func(t *testing.T) {
		s := newStub()
		s.initialized = false
		_, err := clientOf(t, s, withInit, password(func() string { return "weak" })).GetPool(t.Context(), "p")
		if garm.KindOf(err) != garm.KindUnauthorized || strings.Contains(err.Error(), "weak") {
			t.Errorf("got %v", err)
		}
	})
}
