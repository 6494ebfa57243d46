package remote

import (
	"testing"

	"github.com/garm-operator/garm-operator/garm"
)

// A server without times on its pools tells of an own write before it answers it: that is no reason to list.
func TestDoubt(t *testing.T) {
	made := garm.Pool{ID: "p", ProviderName: "local", Flavor: "small", MaxRunners: 4}
	other := made
	other.MaxRunners = 5

	t.Run("the answer says the same", func(t *testing.T) {
		s := newStore(poolTraits())
		start := s.begin()
		if got, _ := s.applyEvent(made); got != EventDoubt || !s.doubtful() {
			t.Fatalf("the event is %q, doubtful %v", got, s.doubtful())
		}
		s.applyObject(start, made, fromWrite)
		if s.doubtful() {
			t.Error("the answer leaves a doubt")
		}
	})
	t.Run("the answer says something else", func(t *testing.T) {
		s := newStore(poolTraits())
		start := s.begin()
		s.applyEvent(other)
		s.applyObject(start, made, fromWrite)
		if !s.doubtful() {
			t.Error("an event of somebody else's change is forgotten")
		}
	})
	t.Run("a list answers what came before it began", func(t *testing.T) {
		s := newStore(poolTraits())
		s.applyEvent(other)
		s.applyList(s.begin(), []garm.Pool{other})
		if s.doubtful() {
			t.Error("the list leaves a doubt")
		}
	})
	t.Run("a list does not answer what came while it was under way", func(t *testing.T) {
		s := newStore(poolTraits())
		start := s.begin()
		s.applyEvent(other)
		s.applyList(start, []garm.Pool{made})
		if !s.doubtful() {
			t.Error("the event is forgotten")
		}
	})
	t.Run("a flood of events is a list", func(t *testing.T) {
		s := newStore(poolTraits())
		for i := range maxDoubts + 1 {
			other.ID = string(rune('a'+i%26)) + string(rune('0'+i/26))
			got, _ := s.applyEvent(other)
			if want := map[bool]EventResult{true: EventDoubt, false: EventDirty}[i < maxDoubts]; got != want {
				t.Fatalf("event %d is %q, not %q", i, got, want)
			}
		}
	})
}
