package admission

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// admittedLife is how long a Pool that was let through may take until the cache shows it.
const admittedLife = 30 * time.Second

// admission is a request that was let through.
type admission struct {
	uid  types.UID
	name string
}

// admitted remembers which Pools were let through until the cache shows them: two that come together would each be the first.
type admitted struct {
	mu    sync.Mutex
	byKey map[string]admission
	// queue holds what to forget, in the order of time.
	queue []forgotten
}

type forgotten struct {
	key string
	admission
	at time.Time
}

func newAdmitted() *admitted { return &admitted{byKey: map[string]admission{}} }

// take lets a request through for a key unless another one has it, and returns who has it then. One for the same name takes it
// over: the store has each name once.
func (a *admitted) take(key string, me admission, now time.Time) admission {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 && now.After(a.queue[0].at) {
		a.forget(a.queue[0].key, a.queue[0].admission)
		a.queue = a.queue[1:]
	}
	if other, ok := a.byKey[key]; ok && (other.name != me.name || me.name == "") {
		return other
	}
	a.byKey[key] = me
	a.queue = append(a.queue, forgotten{key: key, admission: me, at: now.Add(admittedLife)})
	return me
}

// has returns the request that was let through for a key, if one was.
func (a *admitted) has(key string) (admission, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	who, ok := a.byKey[key]
	return who, ok
}

// seen forgets the request that made a Pool which the cache shows now. Where the API server drew the name, the key says enough.
func (a *admitted) seen(key, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if who, ok := a.byKey[key]; ok && (who.name == name || who.name == "") {
		delete(a.byKey, key)
	}
}

// drop forgets a request that came to nothing.
func (a *admitted) drop(key string, who admission) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(key, who)
}

func (a *admitted) forget(key string, who admission) {
	if a.byKey[key] == who {
		delete(a.byKey, key)
	}
}
