package inventory

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

// writes remembers the version that was last written of each object, so that nothing is decided on an older one from the
// cache.
type writes struct {
	mu      sync.Mutex
	version map[types.UID]string
}

func (w *writes) note(obj *v1beta1.Runner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.version == nil {
		w.version = map[types.UID]string{}
	}
	w.version[obj.UID] = obj.ResourceVersion
}

func (w *writes) forget(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.version, uid)
}

// current says whether obj is as new as what was written. What the cache has caught up with is forgotten.
func (w *writes) current(obj *v1beta1.Runner) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	written, ok := w.version[obj.UID]
	if !ok {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(obj.ResourceVersion, written)
	if err == nil && order < 0 {
		return false
	}
	delete(w.version, obj.UID)
	return true
}

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
	status garm.InstanceStatus
	runner garm.RunnerStatus
	times  int
	until  time.Time
}

// rest is how long the server is left alone, for as long as the instance stays as it is.
func (a *attempts) rest(uid types.UID, i garm.Instance, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.last[uid]
	if !ok || last.status != i.Status || last.runner != i.RunnerStatus {
		return 0
	}
	return max(last.until.Sub(now), 0)
}

// note remembers an attempt and returns the rest after it: at least atLeast, and twice as long each time.
func (a *attempts) note(uid types.UID, i garm.Instance, now time.Time, atLeast time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil {
		a.last = map[types.UID]attempt{}
	}
	times := 0
	if last, ok := a.last[uid]; ok && last.status == i.Status && last.runner == i.RunnerStatus {
		times = last.times + 1
	}
	rest := max(min(minRest<<min(times, 10), maxRest), atLeast)
	a.last[uid] = attempt{status: i.Status, runner: i.RunnerStatus, times: times, until: now.Add(rest)}
	return rest
}

func (a *attempts) forget(uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, uid)
}
