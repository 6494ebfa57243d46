package remote

import (
	"testing"
	"time"
)

// However long events have asked for lists, a short rest makes the first list after it a quick one again.
func TestGapRecovers(t *testing.T) {
	s := newSchedule(KindPool, Options{})
	s.end(time.Now(), nil)
	now := time.Now()
	for range 1000 {
		s.markDirty(false)
		s.begin(now)
		s.end(now, nil)
		now = now.Add(lastGap)
	}
	if got := s.gap(now); got != lastGap {
		t.Errorf("while events come the gap is %s", got)
	}
	if got := s.gap(now.Add((doublings + 1) * gapRest)); got != firstGap {
		t.Errorf("after a rest the gap is %s", got)
	}
}
