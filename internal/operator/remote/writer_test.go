package remote_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

func TestWriterReadsItsWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		server.RefuseEvents(true)
		session := run(t, server, remote.Options{})
		view, ctx := session.View(), t.Context()
		w := view.Writer()
		if _, err := w.CreateEndpoint(ctx, garm.CreateEndpointParams{Name: "GHES"}); err != nil {
			t.Fatal(err)
		}
		credentials, err := w.CreateCredentials(ctx, garm.CreateCredentialsParams{Name: "Pat", Endpoint: "ghes"})
		if err != nil {
			t.Fatal(err)
		}
		repo, err := w.CreateRepository(ctx, garm.CreateEntityParams{Owner: "Acme", Name: "App", CredentialsName: "pat"})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := w.CreatePool(ctx, remote.Scope{Kind: remote.KindRepository, ID: repo.ID}, garm.CreatePoolParams{Image: "i"})
		if err != nil {
			t.Fatal(err)
		}
		if _, found, _ := view.Endpoint("ghes"); !found {
			t.Error("the endpoint is not in the view")
		}
		if c, _ := view.CredentialsNamed("PAT"); len(c) != 1 || c[0].ID != credentials.ID {
			t.Errorf("credentials: %v", c)
		}
		if r, _ := view.RepositoriesNamed("ghes", "acme", "APP"); len(r) != 1 || r[0].ID != repo.ID {
			t.Errorf("repositories: %v", r)
		}
		if p, _ := view.PoolsOfEntity(repo.ID); len(p) != 1 || p[0].ID != pool.ID {
			t.Errorf("pools: %v", p)
		}
		if _, err := w.UpdatePool(ctx, pool.ID, garm.UpdatePoolParams{Image: "j"}); err != nil {
			t.Fatal(err)
		}
		if p, _, _ := view.Pool(pool.ID); p.Image != "j" {
			t.Errorf("the view shows image %s", p.Image)
		}
		if err := w.DeletePool(ctx, pool.ID); err != nil {
			t.Fatal(err)
		}
		if _, found, synced := view.Pool(pool.ID); found || !synced {
			t.Errorf("after the deletion: found %t, synced %t", found, synced)
		}
	})
}

func TestWritesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		org := populate(t, server, 0, 0)
		session := run(t, server, remote.Options{})
		var flying, most atomic.Int32
		server.SetFault(func(op string) error {
			if op == "CreateOrganizationPool" {
				most.Store(max(most.Load(), flying.Add(1)))
				time.Sleep(time.Second)
				flying.Add(-1)
			}
			return nil
		})
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := session.View().Writer().CreatePool(t.Context(), remote.Scope{Kind: remote.KindOrganization, ID: org}, garm.CreatePoolParams{})
				if err != nil {
					t.Error(err)
				}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		synctest.Wait()
		if err := session.View().Writer().DeletePool(ctx, "p"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write that finds no slot in time says %v", err)
		}
		all.Wait()
		if n := most.Load(); n != remote.DefaultWritesInFlight {
			t.Errorf("%d writes at once", n)
		}
	})
}

func TestUnknownOutcome(t *testing.T) {
	for _, status := range []int{0, 500} {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			org := populate(t, server, 0, 0)
			session := run(t, server, remote.Options{})
			server.SetEventFault(func(garm.Event) []garm.Event { return nil })
			scope := remote.Scope{Kind: remote.KindOrganization, ID: org}
			server.SetFault(func(op string) error {
				if op != "CreateOrganizationPool" {
					return nil
				}
				server.SetFault(nil)
				if _, err := server.CreateOrganizationPool(t.Context(), org, garm.CreatePoolParams{}); err != nil {
					t.Error(err)
				}
				return remotetest.Error(op, status)
			})
			_, err := session.View().Writer().CreatePool(t.Context(), scope, garm.CreatePoolParams{})
			if !garm.OutcomeUnknown(err) {
				t.Errorf("status %d: the outcome is not told to be unknown: %v", status, err)
			}
			pass(6 * time.Second)
			if pools, _ := session.View().PoolsOfEntity(org); len(pools) != 1 {
				t.Errorf("status %d: what was made all the same is not seen: %d pools", status, len(pools))
			}
			if !session.State().Ready() {
				t.Errorf("status %d: one failed write took the session down", status)
			}
		})
	}
}

func TestOnlyNotFoundConfirms(t *testing.T) {
	tests := []struct {
		status int
		gone   bool
		failed bool
	}{{404, true, false}, {200, false, false}, {500, false, true}, {0, false, true}, {401, false, true}, {400, false, true}}
	kinds := map[remote.Kind]string{
		remote.KindEndpoint: "github.com", remote.KindCredentials: "1", remote.KindOrganization: "", remote.KindPool: "",
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			org := populate(t, server, 1, 0)
			session := run(t, server, remote.Options{})
			pools, _ := session.View().Pools()
			kinds[remote.KindOrganization], kinds[remote.KindPool] = org, pools[0].ID
			if tt.status != 200 {
				server.SetFault(func(op string) error {
					if op == "GetController" || op == "ListPools" {
						return nil
					}
					return remotetest.Error(op, tt.status)
				})
			}
			for kind, id := range kinds {
				gone, err := session.View().ConfirmGone(t.Context(), kind, id)
				if gone != tt.gone || (err != nil) != tt.failed {
					t.Errorf("status %d: %s is gone: %t, %v", tt.status, kind, gone, err)
				}
			}
			if _, found, _ := session.View().Pool(pools[0].ID); found == tt.gone {
				t.Errorf("status %d: in the view: %t", tt.status, found)
			}
			if _, err := session.View().ConfirmGone(t.Context(), remote.KindPool, ""); err == nil {
				t.Error("an empty id confirms nothing")
			}
		})
	}
}

func TestDeletedInstanceStaysUntilItIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		populate(t, server, 0, 1)
		session := run(t, server, remote.Options{})
		if err := session.View().Writer().DeleteInstance(t.Context(), "runner-000", false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if i, found, _ := session.View().Instance("runner-000"); !found || i.Status != garm.InstancePendingDelete {
			t.Errorf("found %t in status %s", found, i.Status)
		}
	})
}
