package pool

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// Whatever order equal Pools come into sight in, and however often they look, at most one of those that are there goes on, and one
// does once all have looked.
func TestRaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "pools")
		all := make([]*v1beta1.Pool, n)
		for i := range all {
			second := rapid.Int64Range(0, 1).Draw(t, "created") // often the same
			all[i] = &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{UID: types.UID(rune('a' + i)), CreationTimestamp: metav1.NewTime(time.Unix(second, 0))}}
		}
		all = rapid.Permutation(all).Draw(t, "order")
		r := newRaces()
		leader := types.UID("")
		look := func(me *v1beta1.Pool, seen []*v1beta1.Pool) {
			var rivals []*v1beta1.Pool
			for _, p := range seen {
				if p.UID != me.UID {
					rivals = append(rivals, p)
				}
			}
			if r.lead("key", me, rivals).UID != me.UID {
				return
			}
			if leader != "" && leader != me.UID {
				t.Fatalf("%s and %s go on", leader, me.UID)
			}
			leader = me.UID
		}
		for i := 1; i <= n; i++ {
			for range rapid.IntRange(0, 3).Draw(t, "looks") {
				look(rapid.SampledFrom(all[:i]).Draw(t, "who"), all[:i])
			}
		}
		before := leader
		leader = ""
		for _, p := range all {
			look(p, all)
		}
		if leader == "" || (before != "" && leader != before) {
			t.Fatalf("%q goes on after %q did", leader, before)
		}
		if oldest := refs.Oldest(all).UID; before == "" && leader != oldest {
			t.Fatalf("%q goes on, and %q is the oldest", leader, oldest)
		}
		rest := all[:0:0]
		for _, p := range all {
			if p.UID != leader {
				rest = append(rest, p)
			}
		}
		r.forget(leader)
		leader = ""
		for _, p := range rest {
			look(p, rest)
		}
		if leader == "" && len(rest) > 0 {
			t.Fatal("none goes on after the first has left")
		}
	})
}

// A Pool that leads keeps its place when one that has left before is forgotten late.
func TestFollowerKeepsItsPlace(t *testing.T) {
	named := func(uid types.UID) *v1beta1.Pool { return &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{UID: uid}} }
	first, second, older := named("b"), named("c"), named("a")
	r := newRaces()
	r.lead("key", first, []*v1beta1.Pool{second})
	r.lead("key", second, nil) // the first is being deleted
	r.forget(first.UID)
	if got := r.lead("key", older, []*v1beta1.Pool{second}); got != second {
		t.Errorf("%s goes on beside the one that does already", got.UID)
	}
}
