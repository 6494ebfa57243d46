package entity

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestFailedTries(t *testing.T) {
	var f failedTries
	now := time.Unix(1_000_000, 0)
	mine, other := types.NamespacedName{Name: "mine"}, types.NamespacedName{Name: "other"}
	f.note(mine, failedTry{wish: "w", until: now.Add(time.Minute), removed: true, conflicts: 3}, now)
	if _, counts := f.last(mine, "w", now.Add(time.Second)); !counts {
		t.Error("the refusal does not count")
	}
	if _, counts := f.last(mine, "w", now.Add(time.Minute)); counts {
		t.Error("the refusal counts for ever")
	}
	if _, counts := f.last(mine, "another", now); counts {
		t.Error("the refusal counts for another wish")
	}
	later := now.Add(time.Minute + triesKept)
	f.note(other, failedTry{wish: "w", until: later}, later)
	if got := f.before(mine, "w"); !got.removed || got.conflicts != 3 {
		t.Errorf("what was tried before is %+v", got)
	}
	if got := f.before(mine, "another"); got.removed {
		t.Error("another wish was tried before")
	}
	f.note(other, failedTry{wish: "w", until: later}, later.Add(sweepEvery))
	if len(f.all) != 1 {
		t.Errorf("%d refusals are kept for ever", len(f.all))
	}
}
