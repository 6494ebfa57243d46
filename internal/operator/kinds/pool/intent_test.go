package pool

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// However an operator is killed among creates of equal pools, and in whatever order the Pools look afterwards: no GARM pool
// gets two Pools, none is left without one, and in the end there are as many as there are Pools.
func TestAssignNeverLeaksAndNeverSharesAPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "pools")
		var server []string          // the pools at the server, in the order of their creation
		owned := map[string]string{} // by id: the Pool that has it recorded
		open := map[string]intent{}  // by Pool: an intent without a recorded outcome
		next := 0
		create := func() string {
			id := fmt.Sprintf("%012x%020x", next, 0)
			next++
			server = append(server, id)
			return id
		}
		// Before the crash: each Pool stores its intent; the pool may be made later, and the outcome recorded or lost.
		var pending []string
		for i := range n {
			uid := fmt.Sprint("uid-", i)
			open[uid] = intent{Had: shortIDs(server)}
			pending = append(pending, uid)
			for len(pending) > 0 && rapid.Bool().Draw(t, "finish one") {
				k := rapid.IntRange(0, len(pending)-1).Draw(t, "which")
				uid := pending[k]
				pending = append(pending[:k], pending[k+1:]...)
				id := create()
				if rapid.Bool().Draw(t, "recorded") {
					owned[id] = uid
					delete(open, uid)
				}
			}
		}
		for _, uid := range pending {
			if rapid.Bool().Draw(t, "reached the server with "+uid) {
				create()
			}
		}
		// Afterwards: one by one, in any order; a crash between two of them loses nothing that was recorded.
		for len(open) > 0 {
			var claimants []claimant
			for uid, i := range open {
				claimants = append(claimants, claimant{uid, i})
			}
			var orphans []string
			for _, id := range server {
				if owned[id] == "" {
					orphans = append(orphans, id)
				}
			}
			given := assign(claimants, orphans)
			uid := claimants[rapid.IntRange(0, len(claimants)-1).Draw(t, "who looks")].uid
			id, ok := given[uid]
			if !ok {
				id = create()
			}
			if other, taken := owned[id]; taken {
				t.Fatalf("%s was given %s, which %s has", uid, id, other)
			}
			owned[id] = uid
			delete(open, uid)
		}
		if len(server) != n || len(owned) != n {
			t.Fatalf("%d Pools, but %d pools at the server and %d recorded", n, len(server), len(owned))
		}
	})
}

func TestIntentIsOpenUntilTheStatusChanges(t *testing.T) {
	i := intent{Time: time.Now(), ControllerID: "c", Replaces: "old", Had: shortIDs([]string{"aaaa-bbbb-cccc-dddd"})}
	text, err := i.encode()
	if err != nil {
		t.Fatal(err)
	}
	p := &v1beta1.Pool{}
	p.Annotations = map[string]string{v1beta1.AnnotationPoolIntent: text}
	p.Status.ID = "old"
	if got := intentOf(p, "c"); got == nil || !got.had("aaaabbbbccccdddd") || got.had("bbbb") {
		t.Fatalf("open intent: %+v", got)
	}
	if intentOf(p, "another") != nil {
		t.Error("an intent of another controller counts")
	}
	p.Status.ID = "new"
	if intentOf(p, "c") != nil {
		t.Error("an intent counts although its outcome is recorded")
	}
	p.Annotations[v1beta1.AnnotationPoolIntent] = "{broken"
	if intentOf(p, "c") != nil {
		t.Error("a broken intent counts")
	}
}

// An intent is settled once its create is over by the clock of whoever looks, however far ahead the other clock was.
func TestIntentOfAnotherClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		stored time.Time
		most   time.Duration
	}{
		"the same clock":        {now, createDeadline + settleMargin + settleGrid},
		"long ago":              {now.Add(-time.Hour), -time.Hour + createDeadline + settleMargin + settleGrid},
		"a clock a day ahead":   {now.Add(24 * time.Hour), createDeadline + settleMargin + settleGrid},
		"a clock a year behind": {now.AddDate(-1, 0, 0), -time.Hour},
	} {
		if got := (intent{Time: c.stored}).settledBy(now).Sub(now); got > c.most {
			t.Errorf("%s: settled after %s, not %s", name, got, c.most)
		}
	}
	all := newClaims()
	if all.sight("1", now, now) != now || all.sight("1", now, now.Add(time.Minute)) != now {
		t.Error("an intent that was seen before counts from then on")
	}
	if later := now.Add(time.Minute); all.sight("1", later, later) != later {
		t.Error("another intent counts anew")
	}
	all.forget("1")
	if len(all.sighted) != 0 {
		t.Error("what is gone is remembered")
	}
}
