package inventory

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/garm-operator/garm-operator/garm"
)

// Rests between attempts to have an instance removed.
const (
	minRest = time.Second
	maxRest = time.Minute
)

// attempts remembers when the server was last asked to remove an instance.
type attempts struct {
	mu   sync.Mutex
	last map[types.UID]attempt
}

type attempt struct {
	state state
	times int
	until time.Time
}

// state is what decides whether a request is worth repeating before its time.
type state struct {
	status garm.InstanceStatus
	runner garm.RunnerStatus
	force  bool
}

func stateOf(i garm.Instance, force bool) state { return state{i.Status, i.RunnerStatus, force} }

// rest is how long the server is left alone, for as long as all stays as it is.
func (a *attempts) rest(uid types.UID, now state, at time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.last[uid]
	if !ok || last.state != now {
		return 0
	}
	return max(last.until.Sub(at), 0)
}

// note remembers an attempt and returns the rest after it: at least atLeast, and twice as long each time.
func (a *attempts) note(uid types.UID, now state, at time.Time, atLeast time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil {
		a.last = map[types.UID]attempt{}
	}
	times := 0
	if last, ok := a.last[uid]; ok && last.state == now {
		times = last.times + 1
	}
	rest := max(min(minRest<<min(times, 10), maxRest), atLeast)
	a.last[uid] = attempt{state: now, times: times, until: at.Add(rest)}
	return rest
}

func (a *attempts) forget(uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, uid)
}
