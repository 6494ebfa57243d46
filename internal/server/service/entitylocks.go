package service

import (
	"context"
	"sync"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// entityLocks lets one caller at a time at each entity. The zero value works.
type entityLocks struct {
	mu   sync.Mutex
	held map[model.EntityID]chan struct{}
}

// lock waits for its turn, or until ctx ends. The caller unlocks.
func (l *entityLocks) lock(ctx context.Context, id model.EntityID) (unlock func(), err error) {
	for {
		l.mu.Lock()
		other, taken := l.held[id]
		if !taken {
			if l.held == nil {
				l.held = map[model.EntityID]chan struct{}{}
			}
			mine := make(chan struct{})
			l.held[id] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, id)
				close(mine)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
