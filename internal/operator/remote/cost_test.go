package remote_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

// busiest returns the most requests that a session at rest makes in any minute of three hours, and how many in all.
func busiest(t *testing.T, server *remotetest.Server, opts remote.Options) (most, all int) {
	t.Helper()
	run(t, server, opts)
	pass(time.Minute)
	var counts []int
	for range 3 * 60 * 12 {
		pass(5 * time.Second)
		counts = append(counts, server.Requests())
	}
	for i := 12; i < len(counts); i++ {
		most = max(most, counts[i]-counts[i-12])
	}
	return most, counts[len(counts)-1] - counts[0]
}

func TestRestCostsTheSameForAnySize(t *testing.T) {
	for _, version := range []string{"v0.1.5", "v0.2.1"} {
		t.Run("OP-65 OP-41 "+version, func(t *testing.T) {
			total := func(pools, runners int) (all int) {
				synctest.Test(t, func(t *testing.T) {
					server := remotetest.NewServer()
					server.SetVersion(version)
					populate(t, server, pools, runners)
					var most int
					if most, all = busiest(t, server, remote.Options{RunnerReconciliation: true}); most > 10 {
						t.Errorf("%d pools, %d runners: %d requests in one minute", pools, runners, most)
					}
				})
				return all
			}
			few, many, wide := total(1, 5), total(1, 500), total(125, 500)
			// Lists are jittered: over three hours that is a few of some 800 requests.
			if d := many - few; d < -20 || d > 20 {
				t.Errorf("three hours at rest cost %d requests with 5 runners and %d with 500", few, many)
			}
			// The sweep of single pools is bounded by time, not by size; all else is the same.
			if d := wide - few; d > 3*60 {
				t.Errorf("three hours at rest cost %d requests with one pool and %d with 125", few, wide)
			}
		})
	}
}

func TestStartIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		populate(t, server, 200, 500)
		before := server.Requests()
		session := run(t, server, remote.Options{RunnerReconciliation: true})
		if n := server.Requests() - before; n > 10 || !session.View().Synced() {
			t.Errorf("the first sync took %d requests", n)
		}
	})
}

func TestPollingWithoutEvents(t *testing.T) {
	lists := func(opts remote.Options) map[string]int {
		got := map[string]int{}
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.RefuseEvents(true)
			populate(t, server, 3, 50)
			session := run(t, server, opts)
			pass(time.Minute)
			before := server.Counts()
			pass(10 * time.Minute)
			for op, n := range server.Counts() {
				got[op] = n - before[op]
			}
			if session.State().Events {
				t.Error("there are no events")
			}
		})
		return got
	}
	t.Run("OP-38 OP-41 one list of instances per interval, however many", func(t *testing.T) {
		got := lists(remote.Options{RunnerReconciliation: true, SyncRunnersInterval: 20 * time.Second})
		if n := got["ListInstances"]; n < 24 || n > 31 {
			t.Errorf("%d lists of instances in ten minutes", n)
		}
		if n := got["ListPools"]; n < 8 || n > 11 {
			t.Errorf("%d lists of pools in ten minutes", n)
		}
	})
	t.Run("OP-38 without runner reconciliation instances are listed as rarely as the rest", func(t *testing.T) {
		if n := lists(remote.Options{SyncRunnersInterval: 5 * time.Second})["ListInstances"]; n > 11 {
			t.Errorf("%d lists of instances in ten minutes", n)
		}
	})
}

// The answer of a create and its event, which has no time on v0.1.5, must not cost a list each.
func TestOwnWritesCauseFewLists(t *testing.T) {
	for _, version := range []string{"v0.1.5", "v0.2.1"} {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetVersion(version)
			org := populate(t, server, 0, 0)
			session := run(t, server, remote.Options{})
			server.SetDelay(func(op string) time.Duration {
				if op == "CreateOrganizationPool" {
					return 50 * time.Millisecond
				}
				return 0
			})
			before := server.Requests()
			for range 200 {
				_, err := session.View().Writer().CreatePool(t.Context(), remote.Scope{Kind: remote.KindOrganization, ID: org}, garm.CreatePoolParams{Image: "i"})
				if err != nil {
					t.Fatal(err)
				}
			}
			pass(10 * time.Second)
			if n := server.Requests() - before - 200; n > 6 {
				t.Errorf("%s: 200 creates cost %d requests more", version, n)
			}
			if pools, _ := session.View().Pools(); len(pools) != 200 {
				t.Errorf("%s: %d pools are known", version, len(pools))
			}
		})
	}
}

func TestListsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		server.RefuseEvents(true)
		server.SetDelay(func(op string) time.Duration {
			if op == "ListInstances" {
				return 3 * time.Second
			}
			return 0
		})
		run(t, server, remote.Options{RunnerReconciliation: true})
		pass(10 * time.Minute)
		if n := server.Counts()["ListInstances"]; n > 11 {
			t.Errorf("a list that takes 3 s was made %d times in ten minutes", n)
		}
	})
}

func TestPoolManagerIsSeenWithoutEvents(t *testing.T) {
	t.Run("OP-7", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetVersion("v0.1.5")
			org := populate(t, server, 1, 0)
			session := run(t, server, remote.Options{})
			sub := session.Subscribe(remote.KindOrganization)
			drain(t, sub)
			want := garm.PoolManagerStatus{FailureReason: "bad credentials"}
			server.SetPoolManager(org, want)
			pass(90 * time.Second)
			got, _, _ := session.View().Organization(org)
			if diff := cmp.Diff(want, got.PoolManagerStatus); diff != "" {
				t.Errorf("after 90 s (-want +got):\n%s", diff)
			}
			if n := drain(t, sub); len(n) != 1 || n[0].NaturalKey != remote.OrganizationKey("github.com", "acme") {
				t.Errorf("notices: %v", n)
			}
			server.SetPoolManager(org, garm.PoolManagerStatus{Running: true})
			pass(30 * time.Second)
			if got, _, _ := session.View().Organization(org); !got.PoolManagerStatus.Running {
				t.Error("a pool manager that runs again is not seen within 30 s")
			}
		})
	})
}
