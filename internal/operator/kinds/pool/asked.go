package pool

import (
	"maps"
	"sync"
	"time"
)

// asked remembers which runners the server was asked to remove, so that no event on the way asks again, and what it said.
type asked struct {
	mu  sync.Mutex
	all map[string]request
	// swept is when what is long over was last forgotten.
	swept time.Time
}

// request is the last that was asked of a runner.
type request struct {
	at      time.Time
	force   bool
	refused string
}

// askAgain is when a removal that has not happened is asked for again.
const askAgain = time.Minute

// first says whether a runner was not asked within the last minute, at least not by force where that is meant, and notes
// that it is now.
func (a *asked) first(id string, force bool, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last, ok := a.all[id]; ok && now.Sub(last.at) < askAgain && (last.force || !force) {
		return false
	}
	if a.all == nil {
		a.all = map[string]request{}
	}
	if now.Sub(a.swept) >= askAgain {
		maps.DeleteFunc(a.all, func(_ string, last request) bool { return now.Sub(last.at) >= 2*askAgain })
		a.swept = now
	}
	a.all[id] = request{at: now, force: force}
	return true
}

// keep notes that the server has refused, with its words.
func (a *asked) keep(id, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last, ok := a.all[id]; ok {
		last.refused = why
		a.all[id] = last
	}
}

// refusal returns what the server said when it refused the last request; "" if it did not.
func (a *asked) refusal(id string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[id].refused
}

// recent says whether a runner was asked within the last minute, and was not refused.
func (a *asked) recent(id string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.all[id]
	return ok && last.refused == "" && now.Sub(last.at) < askAgain
}

// rested says whether a runner was not asked within the last minute.
func (a *asked) rested(id string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.all[id]
	return !ok || now.Sub(last.at) >= askAgain
}
