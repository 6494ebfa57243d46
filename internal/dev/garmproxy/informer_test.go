package garmproxy_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// informer runs a session over the wire, through a proxy, to a server.
func informer(t *testing.T, opts remote.Options) (*remotetest.Server, *garmproxy.Proxy, *remote.Session) {
	t.Helper()
	server := remotetest.NewServer()
	backend := httptest.NewServer(server.Handler())
	t.Cleanup(backend.Close)
	proxy, err := garmproxy.Start(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	c, err := client.New(client.Config{
		BaseURL: proxy.URL(), Username: "admin", Password: client.Password("secret"), Timeout: 2 * time.Second,
		PingInterval: 200 * time.Millisecond, PongTimeout: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	opts.Server, opts.Log = "main", logr.Discard()
	session := remote.New(remote.Over(c), opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = session.Start(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return server, proxy, session
}

// eventually allows for a list that a busy machine made slow: the next one keeps twenty times its duration from it.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen in a minute: %s", what)
		}
	}
}

func synced(s *remote.Session) func() bool {
	return func() bool { return s.State().Ready() && s.State().Events && s.View().Synced() }
}

func sameInstances(t *testing.T, server *remotetest.Server, session *remote.Session) func() bool {
	return func() bool {
		want, err := server.ListInstances(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, _ := session.View().Instances()
		return slices.EqualFunc(want, got, func(a, b garm.Instance) bool { return cmp.Equal(a, b) })
	}
}

func TestInformerLatency(t *testing.T) {
	server, _, session := informer(t, remote.Options{RunnerReconciliation: true})
	eventually(t, "sync", synced(session))
	sub := session.Subscribe(remote.KindInstance)
	defer sub.Close()
	var took []time.Duration
	for i := range 101 {
		begun := time.Now()
		server.SetInstance(garm.Instance{Name: fmt.Sprintf("r%d", i)})
		if _, err := sub.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	t.Logf("p50 %s, p99 %s", took[50], took[99])
	// The median is below a millisecond; the bound is one that no poll could keep, and that a busy machine can.
	if took[50] > time.Second {
		t.Errorf("half of the changes took longer than %s to a subscriber", took[50])
	}
}

func TestInformerOverABadStream(t *testing.T) {
	for _, dialect := range []garmproxy.Dialect{nil, garmproxy.V015()} {
		t.Run(fmt.Sprintf("%T", dialect), func(t *testing.T) {
			server, proxy, session := informer(t, remote.Options{SyncPeriod: 2 * time.Second, EntityInterval: 2 * time.Second})
			proxy.Speak(dialect)
			eventually(t, "sync", synced(session))
			proxy.SetEventFaults(garmproxy.EventFaults{Drop: 0.1, Reorder: 0.1, Duplicate: 0.1, Seed: 7})
			for i := range 300 {
				name := fmt.Sprintf("r%d", i%40)
				if i%7 == 0 {
					server.RemoveInstance(name)
				} else {
					server.SetInstance(garm.Instance{Name: name, ProviderID: fmt.Sprint(i)})
				}
				if i == 150 {
					proxy.HalfOpen()
				}
			}
			eventually(t, "the cache is the server's state", sameInstances(t, server, session))
			if proxy.Counts().Of("GET", "/instances/{id}", 0) != 0 {
				t.Error("single instances were asked for")
			}
		})
	}
}

func TestInformerFindsAHalfOpenStream(t *testing.T) {
	server, proxy, session := informer(t, remote.Options{})
	eventually(t, "sync", synced(session))
	proxy.HalfOpen()
	server.SetInstance(garm.Instance{Name: "missed"})
	eventually(t, "the missed instance is seen long before the next list", func() bool {
		_, found, _ := session.View().Instance("missed")
		return found
	})
}

func TestInformerRidesOutAnOutage(t *testing.T) {
	outages := map[string]func(*testing.T, *garmproxy.Proxy) (end func()){
		"500": func(_ *testing.T, p *garmproxy.Proxy) func() { return p.Inject(garmproxy.Fault{Status: 500}) },
		"dropped": func(_ *testing.T, p *garmproxy.Proxy) func() {
			return p.Inject(garmproxy.Fault{Drop: true})
		},
		"time-outs": func(_ *testing.T, p *garmproxy.Proxy) func() { return p.Inject(garmproxy.Fault{Hang: true}) },
		"refused": func(t *testing.T, p *garmproxy.Proxy) func() {
			if err := p.Refuse(true); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := p.Refuse(false); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, proxy, session := informer(t, remote.Options{})
			server.SetInstance(garm.Instance{Name: "kept"})
			eventually(t, "sync", synced(session))
			end := outage(t, proxy)
			proxy.CloseStreams()
			eventually(t, "the session is down", func() bool { return session.State().Phase == remote.PhaseDown })
			if _, found, known := session.View().Instance("kept"); !found || !known {
				t.Error("what was known is forgotten")
			}
			if gone, err := session.View().ConfirmGone(t.Context(), remote.KindInstance, "kept"); gone || err == nil {
				t.Errorf("gone %t, %v", gone, err)
			}
			server.RemoveInstance("kept")
			server.SetInstance(garm.Instance{Name: "made meanwhile"})
			end()
			eventually(t, "the session is back", synced(session))
			eventually(t, "the cache is the server's state", sameInstances(t, server, session))
		})
	}
}

func TestInformerPollsWithoutEvents(t *testing.T) {
	server, proxy, session := informer(t, remote.Options{EntityInterval: time.Second})
	proxy.SetEventFaults(garmproxy.EventFaults{Refuse: 404})
	proxy.CloseStreams()
	eventually(t, "no events", func() bool { return session.View() != nil && session.View().Synced() && !session.State().Events })
	server.SetInstance(garm.Instance{Name: "polled"})
	eventually(t, "the cache is the server's state", sameInstances(t, server, session))
}

func TestInformerPoolsOverTheWire(t *testing.T) {
	for _, dialect := range []garmproxy.Dialect{nil, garmproxy.V015()} {
		t.Run(fmt.Sprintf("%T", dialect), func(t *testing.T) {
			server, proxy, session := informer(t, remote.Options{})
			proxy.Speak(dialect)
			ctx := t.Context()
			eventually(t, "sync", synced(session))
			w := session.View().Writer()
			if _, err := w.CreateEndpoint(ctx, garm.CreateEndpointParams{Name: "github.com"}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.CreateCredentials(ctx, garm.CreateCredentialsParams{Name: "pat", Endpoint: "github.com"}); err != nil {
				t.Fatal(err)
			}
			org, err := w.CreateOrganization(ctx, garm.CreateEntityParams{Name: "acme", CredentialsName: "pat"})
			if err != nil {
				t.Fatal(err)
			}
			before := proxy.Counts()
			var failed atomic.Int32
			for range 50 {
				if _, err := w.CreatePool(ctx, remote.Scope{Kind: remote.KindOrganization, ID: org.ID}, garm.CreatePoolParams{Tags: []string{"b", "a"}}); err != nil {
					failed.Add(1)
				}
			}
			if pools, known := session.View().PoolsOfEntity(org.ID); len(pools) != 50 || !known || failed.Load() != 0 {
				t.Errorf("%d pools, %d failures", len(pools), failed.Load())
			}
			if extra := proxy.Counts().Since(before).Requests() - 50; extra > 8 {
				t.Errorf("50 creates cost %d requests more:\n%s", extra, proxy.Counts().Since(before))
			}
			foreign, _ := session.View().PoolsOfEntity(org.ID)
			if err := server.DeletePool(ctx, foreign[0].ID); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a pool that somebody else deleted is gone", func() bool {
				_, found, _ := session.View().Pool(foreign[0].ID)
				return !found
			})
			if gone, err := session.View().ConfirmGone(ctx, remote.KindPool, foreign[0].ID); !gone || err != nil {
				t.Errorf("gone %t, %v", gone, err)
			}
		})
	}
}
