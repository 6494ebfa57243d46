package remote

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// Limits of how often a kind is listed.
const (
	// firstGap is the least time before a list that events or writes ask for, if none did for a while: what was just made
	// is soon seen to work. It doubles with each such list, up to lastGap.
	firstGap = 500 * time.Millisecond
	lastGap  = 5 * time.Second
	// gapRest is how long it takes without such lists to take one doubling back.
	gapRest = 2 * lastGap
	// doublings is how many take firstGap to lastGap; more need not be taken back.
	doublings = 4
	// settling is how long what was written may take to work before it is looked at as rarely as everything else.
	settling = 15 * time.Second
	// doubtGrace is how long an event that cannot be ordered waits for the answer to the write that it may tell of.
	doubtGrace = time.Second
	// restFactor is how many times its own duration a list has to be apart from the next.
	restFactor = 20
	// maxListBackoff is the longest wait after failed lists of a kind.
	maxListBackoff = time.Minute
)

// schedule decides when a kind is listed next.
type schedule struct {
	kind Kind
	opts Options
	wake chan struct{}
	// listing is held while the kind is listed.
	listing sync.Mutex

	mu       sync.Mutex
	listed   bool
	dirty    bool
	doubt    bool
	doubted  time.Time
	urgent   bool
	events   bool
	degraded bool
	started  time.Time
	ended    time.Time
	took     time.Duration
	failures int
	retry    time.Duration
	jitter   float64
	// asked counts the lists of late that events or writes asked for, the last at askedAt.
	asked   int
	askedAt time.Time
	// settled is when what was written last should work.
	settled time.Time
}

func newSchedule(kind Kind, opts Options) *schedule {
	return &schedule{kind: kind, opts: opts, wake: make(chan struct{}, 1), jitter: 1}
}

// markDirty asks for a list soon; urgent ones wait only for the rest that the server needs.
func (s *schedule) markDirty(urgent bool) {
	s.mu.Lock()
	s.dirty = true
	s.urgent = s.urgent || urgent
	s.mu.Unlock()
	s.signal()
}

// wrote asks for a list soon because of an own write whose result the server works on, and for more until it is there.
func (s *schedule) wrote(now time.Time) {
	s.mu.Lock()
	s.settled = now.Add(settling)
	s.mu.Unlock()
	s.markDirty(false)
}

// gap is the least time between the last list and one that events or writes ask for.
func (s *schedule) gap(now time.Time) time.Duration {
	return min(firstGap<<s.lately(now), lastGap)
}

func (s *schedule) lately(now time.Time) int {
	return max(s.asked-int(now.Sub(s.askedAt)/gapRest), 0)
}

// markDoubt asks for a list that clearDoubt may call off.
func (s *schedule) markDoubt() {
	s.mu.Lock()
	if !s.doubt {
		s.doubt, s.doubted = true, time.Now()
	}
	s.mu.Unlock()
	s.signal()
}

// clearDoubt says whether a list is due for nothing but a doubt, and takes it back.
func (s *schedule) clearDoubt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	only := s.doubt && !s.dirty && s.listed && s.failures == 0
	s.doubt = false
	return only
}

// setEvents says whether events of the kind arrive.
func (s *schedule) setEvents(on bool) {
	s.mu.Lock()
	s.events = on
	s.mu.Unlock()
	s.signal()
}

// setDegraded says that the kind is in a state that changes without an event, so that it is looked at more often, and
// soon after an own write.
func (s *schedule) setDegraded(on bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.degraded = on
	if on && now.Before(s.settled) {
		s.dirty = true
	}
}

func (s *schedule) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// next says when the next list is due, and whether it is only due because time has passed.
func (s *schedule) next() (due time.Time, periodic bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := restFactor * s.took
	gap := max(rest, s.gap(time.Now()))
	switch {
	case s.failures > 0:
		return s.ended.Add(s.retry), false
	case !s.listed:
		return time.Time{}, false
	case s.dirty && s.urgent:
		return s.ended.Add(rest), false
	case s.dirty:
		return s.ended.Add(gap), false
	case s.doubt:
		due = s.ended.Add(gap)
		if answered := s.doubted.Add(doubtGrace); answered.After(due) {
			due = answered
		}
		return due, false
	}
	interval := time.Duration(float64(s.interval()) * s.jitter)
	return s.started.Add(max(rest, interval)), true
}

func (s *schedule) interval() time.Duration {
	o := s.opts
	switch {
	case s.kind == KindRepository || s.kind == KindOrganization || s.kind == KindEnterprise:
		if s.degraded {
			return o.EntityInterval / 3
		}
		return o.EntityInterval
	case s.kind == KindProvider, s.events:
		return o.SyncPeriod
	case s.kind == KindInstance && o.RunnerReconciliation:
		return o.SyncRunnersInterval
	default:
		return o.EntityInterval
	}
}

// begin is called when a list starts; marks that come from now on ask for another.
func (s *schedule) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed && !s.urgent && (s.dirty || s.doubt) {
		s.asked, s.askedAt = min(s.lately(now)+1, doublings), now
	}
	s.dirty, s.doubt, s.urgent = false, false, false
	s.started = now
}

// end is called when it is done.
func (s *schedule) end(now time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.took = now, now.Sub(s.started)
	if err != nil {
		s.failures++
		s.retry = max(backoff(s.failures, maxListBackoff), retryAfter(err))
		s.dirty = true
		return
	}
	s.failures, s.listed = 0, true
	s.jitter = 1 + 0.2*rand.Float64()
}

// listedSince says whether the last list succeeded and began at t or later.
func (s *schedule) listedSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed && s.failures == 0 && !s.started.Before(t) && !s.ended.Before(s.started)
}

// backoff doubles from one second to longest and is jittered by half, so that clients do not come in step.
func backoff(failures int, longest time.Duration) time.Duration {
	d := min(time.Second<<min(failures-1, 10), longest)
	return d/2 + rand.N(d/2+1)
}

// longestRetryAfter bounds how long a server is left alone because it asks for it.
const longestRetryAfter = 10 * time.Minute

// retryAfter is how long the server asks to be left alone, 0 if it does not.
func retryAfter(err error) time.Duration {
	var e *garm.Error
	if !errors.As(err, &e) || e.Kind != garm.KindRateLimited {
		return 0
	}
	return min(time.Duration(e.RetryAfterSeconds)*time.Second, longestRetryAfter)
}

// window allows a number of things in any span of time.
type window struct {
	span time.Duration
	max  int

	mu    sync.Mutex
	taken []time.Time
}

// take takes one of what is allowed now, or says how long to wait for it.
func (w *window) take(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.taken) > 0 && now.Sub(w.taken[0]) >= w.span {
		w.taken = w.taken[1:]
	}
	if len(w.taken) >= w.max {
		return w.taken[0].Add(w.span).Sub(now)
	}
	w.taken = append(w.taken, now)
	return 0
}
