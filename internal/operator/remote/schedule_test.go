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

// Clients that were started together do not list together for ever.
func TestIntervalsAreJittered(t *testing.T) {
	const period = 10 * time.Minute
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[time.Duration]bool{}
	for range 20 {
		s := newSchedule(KindPool, Options{SyncPeriod: period})
		s.setEvents(true)
		s.begin(now)
		s.end(now, nil)
		due, periodic := s.next()
		if wait := due.Sub(now); !periodic || wait < period || wait > period*6/5 {
			t.Errorf("the next list is after %s, want %s or up to a fifth more", wait, period)
		}
		seen[due.Sub(now)] = true
	}
	if len(seen) < 10 {
		t.Errorf("20 schedules have %d different intervals", len(seen))
	}
}
