package pool

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// claims is what this process knows and the cache may not show yet: which Pool has which GARM pool, which Pools are about
// to create one, and which intents came to nothing.
type claims struct {
	// gate is held shared while a pool is created and claimed, and alone while orphans are given out: what is then not
	// claimed was created by an earlier process.
	gate sync.RWMutex

	mu       sync.Mutex
	byPool   map[types.UID]claim
	byID     map[string]types.UID
	creating map[types.UID]bool
	void     map[types.UID]time.Time
	sighted  map[types.UID]sighting
}

// sighting is when this process has first seen an intent, by its own clock.
type sighting struct{ intent, first time.Time }

type claim struct{ controllerID, id string }

func newClaims() *claims {
	return &claims{
		byPool: map[types.UID]claim{}, byID: map[string]types.UID{}, creating: map[types.UID]bool{}, void: map[types.UID]time.Time{},
		sighted: map[types.UID]sighting{},
	}
}

// take claims a GARM pool for a Pool; false if another one has it.
func (c *claims) take(uid types.UID, controllerID, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, ok := c.byID[id]; ok && other != uid {
		return false
	}
	if old, ok := c.byPool[uid]; ok && old.id != id {
		delete(c.byID, old.id)
	}
	c.byPool[uid] = claim{controllerID, id}
	c.byID[id] = uid
	delete(c.void, uid)
	return true
}

// of returns the id that a Pool has claimed at a controller.
func (c *claims) of(uid types.UID, controllerID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.byPool[uid]; k.controllerID == controllerID {
		return k.id
	}
	return ""
}

// claimed says whether another Pool has the GARM pool.
func (c *claims) claimed(id string, by types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid, ok := c.byID[id]
	return ok && uid != by
}

// drop forgets what a Pool has claimed: the GARM pool is gone.
func (c *claims) drop(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, c.byPool[uid].id)
	delete(c.byPool, uid)
}

func (c *claims) forget(uid types.UID) {
	c.drop(uid)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.void, uid)
	delete(c.sighted, uid)
}

// sight returns when this process has first seen the intent of a Pool.
func (c *claims) sight(uid types.UID, intent, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.sighted[uid]; ok && s.intent.Equal(intent) {
		return s.first
	}
	c.sighted[uid] = sighting{intent: intent, first: now}
	return now
}

func (c *claims) begin(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.creating[uid] = true
}

func (c *claims) end(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.creating, uid)
}

// fail says that nothing came of an intent, for certain.
func (c *claims) fail(uid types.UID, intent time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.void[uid] = intent
}

// open says whether the intent of a Pool may have created something that is not accounted for.
func (c *claims) open(uid types.UID, intent time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	void, failed := c.void[uid]
	return !c.creating[uid] && (!failed || !void.Equal(intent))
}
