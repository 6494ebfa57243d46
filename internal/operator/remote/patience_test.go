package remote_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

// limited makes a call answer 429 with a time to wait.
func limited(op string, seconds int) func(string) error {
	return func(called string) error {
		if called != op {
			return nil
		}
		return &garm.Error{Kind: garm.KindRateLimited, Op: op, Status: 429, RetryAfterSeconds: seconds}
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Run("when the server is first asked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetFault(limited("GetController", 120))
			session := run(t, server, remote.Options{})
			session.Poke()
			pass(119 * time.Second)
			if n := server.Counts()["GetController"]; n != 1 {
				t.Errorf("%d tries before the time has come", n)
			}
			server.SetFault(nil)
			pass(2 * time.Second)
			if !session.State().Ready() {
				t.Errorf("state is %+v", session.State())
			}
		})
	})
	t.Run("when it is looked at, which is no outage", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			session := run(t, server, remote.Options{})
			server.SetFault(limited("GetController", 300))
			before := server.Counts()["GetController"]
			pass(2 * time.Minute)
			if n := server.Counts()["GetController"] - before; n != 1 || !session.State().Ready() {
				t.Errorf("%d looks, state %+v", n, session.State())
			}
		})
	})
	t.Run("when a kind is listed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetFault(limited("ListPools", 200))
			session := run(t, server, remote.Options{})
			pass(199 * time.Second)
			if n := server.Counts()["ListPools"]; n != 1 {
				t.Errorf("%d lists before the time has come", n)
			}
			server.SetFault(nil)
			pass(2 * time.Second)
			if !session.View().Synced() {
				t.Error("not listed when the time had come")
			}
		})
	})
	t.Run("but not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetFault(limited("GetController", 86400))
			run(t, server, remote.Options{})
			pass(30 * time.Minute)
			if n := server.Counts()["GetController"]; n < 3 || n > 4 {
				t.Errorf("%d tries in half an hour", n)
			}
		})
	})
}

// Whoever waits for the first lists is told when the last of them is there, whichever kind it is of.
func TestFirstListsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		server.SetDelay(func(op string) time.Duration {
			if op == "ListInstances" {
				return 7 * time.Second
			}
			return 0
		})
		session := run(t, server, remote.Options{})
		sub := session.Subscribe(remote.KindEndpoint, remote.KindSession)
		pass(6 * time.Second)
		drain(t, sub)
		if session.View().Synced() {
			t.Fatal("the instances are not listed yet")
		}
		pass(2 * time.Second)
		told := drain(t, sub)
		if !session.View().Synced() || len(told) != 1 || told[0] != (remote.Notice{Kind: remote.KindSession}) {
			t.Errorf("told %v, synced %t", told, session.View().Synced())
		}
		pass(time.Hour)
		for _, n := range drain(t, sub) {
			if n.Kind == remote.KindSession {
				t.Errorf("told again: %v", n)
			}
		}
	})
}

// OP-9: that the pool manager of a new entity runs is seen soon on v0.1.5, too, which sends no event of it; one that does
// not start costs few lists.
func TestNewEntityIsSeenToWork(t *testing.T) {
	for _, starts := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetVersion("v0.1.5")
			populate(t, server, 1, 0)
			session := run(t, server, remote.Options{})
			pass(10 * time.Second)
			server.HoldPoolManagers()
			org, err := session.View().Writer().CreateOrganization(t.Context(), garm.CreateEntityParams{Name: "New", CredentialsName: "pat"})
			if err != nil {
				t.Fatal(err)
			}
			before := server.Requests()
			pass(900 * time.Millisecond)
			if starts {
				server.SetPoolManager(org.ID, garm.PoolManagerStatus{Running: true})
			}
			pass(1200 * time.Millisecond)
			if got, _, _ := session.View().Organization(org.ID); got.PoolManagerStatus.Running != starts {
				t.Errorf("after 2.1 s its pool manager runs: %t, not %t", got.PoolManagerStatus.Running, starts)
			}
			pass(18 * time.Second)
			if n := server.Requests() - before; n > 8 {
				t.Errorf("starts %t: %d requests in 20 s", starts, n)
			}
		})
	}
}

// OP-9: when the pool manager of a new entity starts within 3 s, v0.1.5 is asked often enough that what waits for it goes on
// within 5 s, for each kind of entity.
func TestNewEntityIsSeenInTime(t *testing.T) {
	const wanted = 5 * time.Second
	params := garm.CreateEntityParams{Owner: "octo", Name: "New", CredentialsName: "pat"}
	kinds := map[string]struct {
		create func(*testing.T, *remote.View) (string, error)
		runs   func(*remote.View, string) bool
	}{
		"enterprise": {
			func(t *testing.T, v *remote.View) (string, error) {
				o, err := v.Writer().CreateEnterprise(t.Context(), params)
				return o.ID, err
			},
			func(v *remote.View, id string) bool {
				o, _, _ := v.Enterprise(id)
				return o.PoolManagerStatus.Running
			},
		},
		"organization": {
			func(t *testing.T, v *remote.View) (string, error) {
				o, err := v.Writer().CreateOrganization(t.Context(), params)
				return o.ID, err
			},
			func(v *remote.View, id string) bool {
				o, _, _ := v.Organization(id)
				return o.PoolManagerStatus.Running
			},
		},
		"repository": {
			func(t *testing.T, v *remote.View) (string, error) {
				o, err := v.Writer().CreateRepository(t.Context(), params)
				return o.ID, err
			},
			func(v *remote.View, id string) bool {
				o, _, _ := v.Repository(id)
				return o.PoolManagerStatus.Running
			},
		},
	}
	for name, kind := range kinds {
		for _, starts := range []time.Duration{0, 100 * time.Millisecond, 600 * time.Millisecond, time.Second, 1600 * time.Millisecond, 2900 * time.Millisecond} {
			t.Run(name+" after "+starts.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := remotetest.NewServer()
					server.SetVersion("v0.1.5")
					populate(t, server, 1, 0)
					session := run(t, server, remote.Options{})
					pass(10 * time.Second)
					server.HoldPoolManagers()
					id, err := kind.create(t, session.View())
					if err != nil {
						t.Fatal(err)
					}
					begun := time.Now()
					pass(starts)
					server.SetPoolManager(id, garm.PoolManagerStatus{Running: true})
					for !kind.runs(session.View(), id) && time.Since(begun) < time.Minute {
						pass(50 * time.Millisecond)
					}
					if took := time.Since(begun); took > wanted {
						t.Errorf("seen after %s", took)
					}
				})
			})
		}
	}
}
