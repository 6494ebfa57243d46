package metricsauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// cluster answers for tokens that begin with a word, after a while.
type cluster struct {
	asked    atomic.Int64
	takes    time.Duration
	revoked  atomic.Bool
	answered map[string]int
}

func newCluster() *cluster {
	return &cluster{takes: 100 * time.Millisecond, answered: map[string]int{"reader": http.StatusOK, "account": http.StatusForbidden}}
}

func (c *cluster) review(ctx context.Context, token, _, _ string) (int, error) {
	c.asked.Add(1)
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(c.takes):
	}
	word, _, _ := strings.Cut(token, "-")
	if word == "broken" {
		return 0, errors.New("the API server is down")
	}
	if status, ok := c.answered[word]; ok && !c.revoked.Load() {
		return status, nil
	}
	return http.StatusUnauthorized, nil
}

// world is a filter before metrics.
type world struct {
	*cluster
	handler http.Handler
}

func newWorld() *world {
	c := newCluster()
	return &world{cluster: c, handler: newFilter(c).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))}
}

// get asks for the metrics from an address, and returns the status and how long that took.
func (w *world) get(address, token string) (int, time.Duration) {
	return w.do(http.MethodGet, address, token)
}

func (w *world) do(method, address, token string) (int, time.Duration) {
	r := httptest.NewRequest(method, "/metrics", http.NoBody)
	r.RemoteAddr = address
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	out := httptest.NewRecorder()
	start := time.Now()
	w.handler.ServeHTTP(out, r)
	return out.Code, time.Since(start)
}

const (
	scraper = "10.0.0.1:4000"
	other   = "10.0.0.2:4000"
)

// Who may read, and how long an answer holds.
func TestFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for _, c := range []struct {
			name, method, token string
			pause               time.Duration // before
			status              int
			asked               int64
		}{
			{name: "nobody", status: http.StatusUnauthorized},
			{name: "a token that is too long", token: strings.Repeat("x", maxToken+1), status: http.StatusUnauthorized},
			{name: "a reader", token: "reader", status: http.StatusOK, asked: 1},
			{name: "again", token: "reader", status: http.StatusOK},
			{name: "by another method", method: http.MethodHead, token: "reader", status: http.StatusOK, asked: 1},
			{name: "one that reads nothing", method: "FLOOD", token: "reader", status: http.StatusMethodNotAllowed},
			{name: "later", pause: 61 * time.Second, token: "reader", status: http.StatusOK, asked: 1},
			{name: "an account without the role", token: "account", status: http.StatusForbidden, asked: 1},
			{name: "again", token: "account", status: http.StatusForbidden},
			{name: "later", pause: 11 * time.Second, token: "account", status: http.StatusForbidden, asked: 1},
			{name: "a made-up token", token: "x", status: http.StatusUnauthorized, asked: 1},
			{name: "an API server that does not answer", pause: time.Minute, token: "broken", status: http.StatusInternalServerError, asked: 1},
			{name: "which is not remembered", token: "broken", status: http.StatusInternalServerError, asked: 1},
		} {
			time.Sleep(c.pause)
			if c.method == "" {
				c.method = http.MethodGet
			}
			before := w.asked.Load()
			status, _ := w.do(c.method, scraper, c.token)
			if asked := w.asked.Load() - before; status != c.status || asked != c.asked {
				t.Errorf("%s: %d after %d reviews, want %d after %d", c.name, status, asked, c.status, c.asked)
			}
		}
	})
}

// Strangers with as many tokens as they like, from one address or many, neither push a reader out nor make it wait, and are no
// burden for the API server.
func TestStrangersDoNotDisturbReaders(t *testing.T) {
	for name, address := range map[string]func(int) string{
		"from one address":    func(int) string { return other },
		"from many addresses": func(i int) string { return fmt.Sprintf("10.%d.%d.1:4000", 1+i%200, i/200%200) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.takes = time.Second
				if status, _ := w.get(scraper, "reader"); status != http.StatusOK {
					t.Fatal(status)
				}
				flood, end := context.WithCancel(t.Context())
				var refused atomic.Int64
				go func() {
					for i := 0; flood.Err() == nil; i++ {
						go func() {
							if status, _ := w.get(address(i), fmt.Sprintf("x-%d", i)); status == http.StatusTooManyRequests {
								refused.Add(1)
							}
						}()
						time.Sleep(10 * time.Millisecond)
					}
				}()
				start := time.Now()
				for time.Since(start) < 75*time.Second {
					time.Sleep(15 * time.Second)
					// One review of its own at most: nothing waits in a queue with strangers.
					if status, took := w.get(scraper, "reader"); status != http.StatusOK || took > w.takes {
						t.Errorf("after %s: %d in %s", time.Since(start), status, took)
					}
				}
				end()
				synctest.Wait()
				if most := int64(strangersBurst + strangersQPS*time.Since(start).Seconds() + 10); w.asked.Load() > most {
					t.Errorf("%d reviews, more than %d", w.asked.Load(), most)
				}
				if refused.Load() == 0 {
					t.Error("no stranger was told that there are too many")
				}
				time.Sleep(reviewTimeout)
			})
		})
	}
}

// A flood from one address leaves the way in open to a new token from another one.
func TestNewReaderDuringAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for i := range 1000 {
			w.get(other, fmt.Sprintf("x-%d", i))
		}
		if status, _ := w.get(scraper, "reader-new"); status != http.StatusOK {
			t.Errorf("%d", status)
		}
	})
}

// Who may read no longer is told so when the answer has run out, and is a stranger from then on.
func TestRevokedReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		if status, _ := w.get(scraper, "reader"); status != http.StatusOK {
			t.Fatal(status)
		}
		w.revoked.Store(true)
		time.Sleep(allowedFor + time.Second)
		for i := range sourceBurst * 2 {
			want := http.StatusUnauthorized
			if i >= sourceBurst {
				want = http.StatusTooManyRequests
			}
			// The first question is that of a reader; the rest count as those of a stranger.
			if status, _ := w.get(scraper, "reader"); i == 0 && status != want {
				t.Errorf("%d", status)
			}
			if status, _ := w.get(scraper, fmt.Sprintf("x-%d", i)); status != want {
				t.Errorf("question %d: %d, want %d", i, status, want)
			}
		}
	})
}

// The same question from many at the same time is one review.
func TestOneReviewForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.get(scraper, "reader")
		time.Sleep(allowedFor + time.Second)
		before := w.asked.Load()
		for range 50 {
			go func() {
				if status, _ := w.get(scraper, "reader"); status != http.StatusOK {
					t.Errorf("%d", status)
				}
			}()
		}
		time.Sleep(time.Second)
		if asked := w.asked.Load() - before; asked != 1 {
			t.Errorf("%d reviews", asked)
		}
	})
}

func TestSource(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"10.0.0.1:1", "10.0.0.1:2", true},
		{"10.0.0.1:1", "[::ffff:10.0.0.1]:2", true},
		{"10.0.0.1:1", "10.0.0.2:1", false},
		{"[2001:db8::1]:1", "[2001:db8::ffff:2]:1", true},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::1%eth1]:1", true},
	} {
		if same := source(c.a) == source(c.b); same != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, same)
		}
	}
}
