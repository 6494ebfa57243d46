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
		return e.reconcileInstance(ctx, l, id)
	})
	return l
}

// tryCreate takes a slot for a create. Where there is none, the instance is woken when one becomes free.
func (l *lane) tryCreate(id model.InstanceID) bool { return l.creates.take(id) }

func (l *lane) endCreate() {
	if next, ok := l.creates.release(); ok {
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

// release returns a slot and says who should try next.
func (s *slots) release() (model.InstanceID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if len(s.waiting) == 0 {
		return "", false
	}
	id := s.waiting[0]
	s.waiting = s.waiting[1:]
	delete(s.queued, id)
	return id, true
}
