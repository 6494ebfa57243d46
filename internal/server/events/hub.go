package events

import (
	"sync"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// DefaultBacklog is how many changes a reader may be behind.
const DefaultBacklog = 4096

// Hub is the change feed of a server. It implements model.Feed.
type Hub struct {
	mu      sync.Mutex
	readers map[*Subscription]struct{}
	closed  bool
}

// NewHub makes a hub without readers.
func NewHub() *Hub { return &Hub{readers: map[*Subscription]struct{}{}} }

// Subscription is one reader's queue of changes.
type Subscription struct {
	hub  *Hub
	c    chan model.Change
	once sync.Once
}

// Subscribe adds a reader that may be backlog changes behind; DefaultBacklog for 0.
func (h *Hub) Subscribe(backlog int) *Subscription {
	if backlog == 0 {
		backlog = DefaultBacklog
	}
	s := &Subscription{hub: h, c: make(chan model.Change, backlog)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.end()
		return s
	}
	h.readers[s] = struct{}{}
	return s
}

// Publish implements model.Feed. It never waits: a reader whose queue is full is ended.
func (h *Hub) Publish(changes ...model.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.readers {
		for _, change := range changes {
			select {
			case s.c <- change:
				continue
			default:
			}
			delete(h.readers, s)
			s.end()
			break
		}
	}
}

// Close ends all readers, and those to come.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.readers {
		delete(h.readers, s)
		s.end()
	}
}

// Changes is the queue. It is closed when the reader fell behind, and when the hub closes: then changes were missed.
func (s *Subscription) Changes() <-chan model.Change { return s.c }

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.readers, s)
	s.end()
}

// end closes the queue; the hub's lock is held, or nobody knows the subscription yet.
func (s *Subscription) end() { s.once.Do(func() { close(s.c) }) }
