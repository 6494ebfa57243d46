package admission

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The first of several requests is let through; one that came to nothing, or is long ago, stands in nobody's way.
func TestAdmitted(t *testing.T) {
	a := newAdmitted()
	now := time.Now()
	as := func(name string) admission { return admission{uid: types.UID("uid of " + name), name: name} }
	if got := a.take("key", as("first"), now); got != as("first") {
		t.Errorf("first: %v has it", got)
	}
	if got := a.take("key", as("second"), now); got != as("first") {
		t.Errorf("second: %v has it", got)
	}
	if got := a.take("other", as("second"), now); got != as("second") {
		t.Errorf("another key: %v has it", got)
	}
	again := admission{uid: "another request", name: "first"}
	if got := a.take("key", again, now); got != again {
		t.Errorf("the same name again: %v has it", got)
	}
	a.drop("key", as("first"))
	if got := a.take("key", as("second"), now); got != again {
		t.Errorf("after another one's end: %v has it", got)
	}
	a.drop("key", again)
	if got := a.take("key", as("second"), now); got != as("second") {
		t.Errorf("after its end: %v has it", got)
	}
	if got := a.take("key", as("third"), now.Add(2*admittedLife)); got != as("third") {
		t.Errorf("later: %v has it", got)
	}
}

// A Pool that the cache shows is looked up there; requests of others stay.
func TestAdmittedSeen(t *testing.T) {
	a := newAdmitted()
	now := time.Now()
	a.take("key", admission{uid: "1", name: "first"}, now)
	a.take("drawn", admission{uid: "2"}, now)
	a.seen("key", "other")
	if _, ok := a.has("key"); !ok {
		t.Error("forgotten for another Pool")
	}
	a.seen("key", "first")
	a.seen("drawn", "drawn-x7k2p")
	for _, key := range []string{"key", "drawn"} {
		if who, ok := a.has(key); ok {
			t.Errorf("%s: %v is kept", key, who)
		}
	}
}

// Nothing is kept for ever.
func TestAdmittedForgets(t *testing.T) {
	a := newAdmitted()
	start := time.Now()
	for i := range 100 {
		name := fmt.Sprint(i)
		a.take(name, admission{uid: types.UID(name), name: name}, start.Add(time.Duration(i)*admittedLife/10))
	}
	if len(a.queue) > 12 || len(a.byKey) > 12 {
		t.Errorf("%d and %d are kept", len(a.queue), len(a.byKey))
	}
}
