package fleet

import (
	"context"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// lane is the queue of the instances of one provider.
type lane struct {
	*queue[model.InstanceID]
	creates slots[model.InstanceID]
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
