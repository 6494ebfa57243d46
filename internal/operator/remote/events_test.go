package remote_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

func TestInstanceEventsArriveAtOnce(t *testing.T) {
	for _, version := range []string{"v0.1.5", "v0.2.1"} {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetVersion(version)
			populate(t, server, 1, 1)
			session := run(t, server, remote.Options{})
			sub := session.Subscribe(remote.KindInstance)
			before := server.Requests()

			want := server.SetInstance(garm.Instance{Name: "Runner-New", PoolID: "p", RunnerStatus: garm.RunnerIdle})
			synctest.Wait()
			got, found, _ := session.View().Instance("runner-new")
			if diff := cmp.Diff(want, got); !found || diff != "" {
				t.Errorf("%s: without any time passing (-want +got):\n%s", version, diff)
			}
			notice := remote.Notice{Kind: remote.KindInstance, ID: "Runner-New", NaturalKey: "runner-new", Parent: "p"}
			if diff := cmp.Diff([]remote.Notice{notice}, drain(t, sub)); diff != "" {
				t.Errorf("%s: notices (-want +got):\n%s", version, diff)
			}
			server.RemoveInstance("Runner-New")
			synctest.Wait()
			if _, found, synced := session.View().Instance("Runner-New"); found || !synced {
				t.Errorf("%s: the removed instance is still there", version)
			}
			if !session.View().InstanceGone("Runner-New") || session.View().InstanceGone("runner-000") {
				t.Errorf("%s: the server's word that an instance is gone is not remembered", version)
			}
			pass(10 * time.Second)
			if n := server.Requests() - before; n != 0 {
				t.Errorf("%s: the events cost %d requests", version, n)
			}
		})
	}
}

// A server whose clock was set back sends events that seem to be older than what is known. They are not taken for late ones: what
// they tell of is listed within seconds.
func TestEventsAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		populate(t, server, 1, 20)
		session := run(t, server, remote.Options{RunnerReconciliation: true})
		server.SetClockBack(time.Hour)
		before := server.Requests()
		for range 3 {
			for i := range 20 {
				server.SetInstance(garm.Instance{Name: fmt.Sprintf("runner-%03d", i), PoolID: "p", RunnerStatus: garm.RunnerActive})
			}
			pass(10 * time.Second)
			instances, _ := session.View().Instances()
			for _, i := range instances {
				if i.RunnerStatus != garm.RunnerActive {
					t.Fatalf("10 s after the event: %+v", i)
				}
			}
		}
		if n := server.Requests() - before; n != 1 {
			t.Errorf("%d requests for events of an earlier time", n)
		}
	})
}

func TestUntimedEventsCauseOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		server.SetVersion("v0.1.5")
		populate(t, server, 20, 0)
		session := run(t, server, remote.Options{})
		pass(10 * time.Second)
		before := server.Counts()
		pools, _ := session.View().Pools()
		for _, p := range pools {
			if _, err := server.UpdatePool(t.Context(), p.ID, garm.UpdatePoolParams{Image: "new"}); err != nil {
				t.Fatal(err)
			}
		}
		pass(6 * time.Second)
		after := server.Counts()
		if n := after["ListPools"] - before["ListPools"]; n < 1 || n > 2 || after["GetPool"] != 0 {
			t.Errorf("20 edits cost %d lists and %d GETs", n, after["GetPool"])
		}
		pools, _ = session.View().Pools()
		for _, p := range pools {
			if p.Image != "new" {
				t.Errorf("pool %s still has image %s", p.ID, p.Image)
			}
		}
	})
}

// unreliable drops, repeats and holds back events; what is held back is sent after the next one.
func unreliable(seed uint64) func(garm.Event) []garm.Event {
	rng := rand.New(rand.NewPCG(seed, 1))
	var held []garm.Event
	return func(e garm.Event) []garm.Event {
		switch rng.IntN(10) {
		case 0:
			return nil
		case 1:
			held = append(held, e)
			return nil
		case 2:
			return []garm.Event{e, e}
		default:
			out := append([]garm.Event{e}, held...)
			held = nil
			return out
		}
	}
}

func TestLossyEventsConverge(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			if seed%2 == 0 {
				server.SetVersion("v0.1.5")
			}
			populate(t, server, 3, 20)
			session := run(t, server, remote.Options{RunnerReconciliation: true})
			server.SetEventFault(unreliable(seed))
			rng := rand.New(rand.NewPCG(seed, 2))
			for i := range 300 {
				name := fmt.Sprintf("runner-%03d", rng.IntN(40))
				if rng.IntN(4) == 0 {
					server.RemoveInstance(name)
				} else {
					server.SetInstance(garm.Instance{Name: name, PoolID: "p", ProviderID: fmt.Sprint(i)})
				}
				if rng.IntN(50) == 0 {
					server.DropStreams()
				}
				pass(time.Duration(rng.IntN(2000)) * time.Millisecond)
			}
			pass(7 * time.Minute)
			want, err := server.ListInstances(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, _ := session.View().Instances()
			byName := func(a, b garm.Instance) int { return slices.Compare([]string{a.Name}, []string{b.Name}) }
			slices.SortFunc(want, byName)
			slices.SortFunc(got, byName)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d: one relist later (-want +got):\n%s", seed, diff)
			}
		})
	}
}

func TestListsAndEventsDoNotBlank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := remotetest.NewServer()
		org := populate(t, server, 0, 0)
		specs := json.RawMessage(`{"a":1}`)
		pool, err := server.CreateOrganizationPool(t.Context(), org, garm.CreatePoolParams{Image: "i", ExtraSpecs: specs})
		if err != nil {
			t.Fatal(err)
		}
		server.SetInstance(garm.Instance{Name: "r", Addresses: []garm.Address{{Address: "192.0.2.1", Type: "private"}}})
		session := run(t, server, remote.Options{})
		view := session.View()
		if _, known, _ := view.PoolExtraSpecs(pool.ID); known {
			t.Error("a list does not show extra specs, so they are not known")
		}
		if _, err := view.FetchPool(t.Context(), pool.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := view.FetchInstance(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		server.Send(
			event(t, garm.EntityTypeInstance, garm.Instance{Name: "r", UpdatedAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}),
			event(t, garm.EntityTypeOrganization, garm.Organization{Entity: garm.Entity{
				ID: org, Name: "Acme", PoolBalancerType: garm.BalancerPack, UpdatedAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
			}}))
		synctest.Wait()
		organization, _, _ := view.Organization(org)
		if !organization.PoolManagerStatus.Running || organization.Endpoint.Name != "github.com" || organization.PoolBalancerType != garm.BalancerPack {
			t.Errorf("after an event without them: %+v", organization.Entity)
		}
		pass(20 * time.Minute)
		if got, known, current := view.PoolExtraSpecs(pool.ID); !known || !current || string(got) != string(specs) {
			t.Errorf("after lists the extra specs are %s, known %t, current %t", got, known, current)
		}
		if i, _, _ := view.Instance("r"); len(i.Addresses) != 1 {
			t.Error("after lists the addresses are gone")
		}
	})
}

func TestSweepFindsWhatListsDoNotShow(t *testing.T) {
	t.Run("a changed pool within two minutes where the server says when", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			org := populate(t, server, 0, 0)
			session := run(t, server, remote.Options{})
			pool, err := session.View().Writer().CreatePool(t.Context(), remote.Scope{Kind: remote.KindOrganization, ID: org}, garm.CreatePoolParams{ExtraSpecs: json.RawMessage(`{"a":1}`)})
			if err != nil {
				t.Fatal(err)
			}
			server.SetEventFault(func(garm.Event) []garm.Event { return nil })
			if _, err := server.UpdatePool(t.Context(), pool.ID, garm.UpdatePoolParams{ExtraSpecs: json.RawMessage(`{"a":2}`)}); err != nil {
				t.Fatal(err)
			}
			pass(9 * time.Minute)
			if got, _, current := session.View().PoolExtraSpecs(pool.ID); string(got) != `{"a":2}` || !current {
				t.Errorf("extra specs %s, current %t", got, current)
			}
		})
	})
	t.Run("every pool within the sweep period where it does not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := remotetest.NewServer()
			server.SetVersion("v0.1.5")
			populate(t, server, 50, 0)
			session := run(t, server, remote.Options{SweepPeriod: 2 * time.Hour})
			before := server.Counts()["GetPool"]
			pass(3 * time.Hour)
			pools, _ := session.View().Pools()
			for _, p := range pools {
				if _, known, _ := session.View().PoolExtraSpecs(p.ID); !known {
					t.Errorf("pool %s was never looked at", p.ID)
				}
			}
			if n := server.Counts()["GetPool"] - before; n > 90 {
				t.Errorf("%d GETs in three hours for 50 pools", n)
			}
		})
	})
}

func event(t *testing.T, kind garm.EntityType, payload any) garm.Event {
	t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return garm.Event{EntityType: kind, Operation: garm.OperationUpdate, Payload: raw}
}
