package mirror

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

const (
	// cacheLag is when a pass is repeated, at the soonest, that would have worked on an outdated resource.
	cacheLag = 20 * time.Millisecond
	// longestLag is how long a cache is waited for. One that is behind for longer will not catch up: the API server was
	// restored from a backup, and counts its versions anew.
	longestLag = time.Minute
)

// Written remembers what this process has last written of each resource, so that no pass works on something older from the
// cache. Its zero value is empty.
type Written[K comparable] struct {
	mu  sync.Mutex
	all map[K]written
}

type written struct {
	version string
	at      time.Time
}

// Note remembers a version that was read or written.
func (w *Written[K]) Note(key K, version string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[K]written{}
	}
	if w.all[key].version != version {
		w.all[key] = written{version, now}
	}
}

// Forget drops what is remembered of a resource.
func (w *Written[K]) Forget(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, key)
}

// Lag says when to look again because the cache is behind: 0 if its version is as new as what was written. What the cache
// has caught up with is forgotten. The longer it takes the rarer the looks, and in the end the cache is believed.
func (w *Written[K]) Lag(key K, cached string, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.all[key]
	if !ok {
		return 0
	}
	waited := now.Sub(last.at)
	order, err := resourceversion.CompareResourceVersion(cached, last.version)
	if err != nil || order >= 0 || waited >= longestLag {
		delete(w.all, key)
		return 0
	}
	return max(cacheLag, waited/8)
}
