package pool

import (
	"fmt"
	"strings"
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

// Whatever the clock of whoever has stored an intent: its outcome is looked for when its create is over, and not much later.
func TestIntentOfAnotherClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := int64(24 * time.Hour)
		stored := time.Unix(1_800_000_000, rapid.Int64Range(0, day).Draw(t, "stored at"))
		skew := time.Duration(rapid.OneOf(rapid.Int64Range(-400*day, 400*day), rapid.Int64Range(-int64(time.Minute), int64(time.Minute))).Draw(t, "skew"))
		written := intent{Time: stored.Add(skew).UTC().Round(time.Millisecond)}
		first := stored.Add(time.Duration(rapid.Int64Range(0, day).Draw(t, "seen after")))

		all := newClaims()
		settled := settles(all.sight("1", written.Time, first))
		if settled.Before(stored.Add(createDeadline + settleMargin)) {
			t.Errorf("settled %s after it was stored, while its create may be on the way", settled.Sub(stored))
		}
		if most := createDeadline + settleMargin + settleGrid; settled.Sub(first) > most {
			t.Errorf("settled %s after it was seen, not %s", settled.Sub(first), most)
		}
		later := first.Add(time.Duration(rapid.Int64Range(0, day).Draw(t, "looked again after")))
		if again := settles(all.sight("1", written.Time, later)); !again.Equal(settled) {
			t.Errorf("another look moves it from %s to %s", settled, again)
		}
	})
}

// Intents of about the same time are settled at once, so that they share a list; and the steps of a clock do not count.
func TestIntentsSettleTogether(t *testing.T) {
	start := time.Unix(1_800_000_000, 0) // on the grid
	for _, first := range []time.Time{start, start.Add(time.Second), start.Add(settleGrid - 1)} {
		if got := settles(first).Sub(start); got != createDeadline+settleMargin+settleGrid {
			t.Errorf("an intent seen after %s is settled after %s", first.Sub(start), got)
		}
	}
	if settled := settles(time.Now()); !strings.Contains(settled.String(), " m=") {
		t.Error("the reading of the monotonic clock is lost")
	}
}

func TestSightings(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
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
