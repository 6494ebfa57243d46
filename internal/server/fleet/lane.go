package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// lane is the queue of the instances of one provider.
type lane struct {
	*queue[model.InstanceID]
	creates slots
}

func newLane(e *Engine) *lane {
	l := &lane{}
	l.creates.free = e.limits.ProviderCreates
	l.queue = newQueue("instance", e.log, func(ctx context.Context, id model.InstanceID) (time.Duration, error) {
		// After every step, since one that was woken for a slot may not need it any more: it passes the slot on.
		defer l.offerCreate()
		return e.reconcileInstance(ctx, l, id)
	})
	return l
}

// tryCreate takes a slot for a create. Where there is none, the instance is woken when one becomes free.
func (l *lane) tryCreate(id model.InstanceID) bool { return l.creates.take(id) }

// endCreate gives the slot back. The end of the step wakes who waits for it.
func (l *lane) endCreate() { l.creates.release() }

func (l *lane) offerCreate() {
	if next, ok := l.creates.next(); ok {
		l.add(next)
	}
}

// slots are places for a bounded number of creates, with those who wait in the order in which they came.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting []model.InstanceID
	queued  map[model.InstanceID]bool
}

func (s *slots) take(id model.InstanceID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return true
	}
	if !s.queued[id] {
		if s.queued == nil {
			s.queued = map[model.InstanceID]bool{}
		}
		s.queued[id] = true
		s.waiting = append(s.waiting, id)
	}
	return false
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
}

// next says who should try next, if a slot is free.
func (s *slots) next() (model.InstanceID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || len(s.waiting) == 0 {
		return "", false
	}
	id := s.waiting[0]
	s.waiting = s.waiting[1:]
	delete(s.queued, id)
	return id, true
}
