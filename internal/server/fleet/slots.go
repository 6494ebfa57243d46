package fleet

import (
	"sync"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// slots are a bounded number of places, with those who wait for one in the order in which they came.
type slots[K comparable] struct {
	mu      sync.Mutex
	free    int
	waiting []K
	queued  map[K]bool
}

func (s *slots[K]) take(id K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return true
	}
	if !s.queued[id] {
		if s.queued == nil {
			s.queued = map[K]bool{}
		}
		s.queued[id] = true
		s.waiting = append(s.waiting, id)
	}
	return false
}

func (s *slots[K]) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
}

// next says who should try next, if a slot is free.
func (s *slots[K]) next() (id K, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || len(s.waiting) == 0 {
		return id, false
	}
	id = s.waiting[0]
	s.waiting = s.waiting[1:]
	delete(s.queued, id)
	return id, true
}

// places are slots of entities, for each endpoint its own.
type places struct {
	mu sync.Mutex
	by map[model.EndpointName]*slots[model.EntityID]
}

// at returns the slots of an endpoint, which has most of them.
func (p *places) at(endpoint model.EndpointName, most int) *slots[model.EntityID] {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.by[endpoint]
	if s == nil {
		if p.by == nil {
			p.by = map[model.EndpointName]*slots[model.EntityID]{}
		}
		s = &slots[model.EntityID]{free: most}
		p.by[endpoint] = s
	}
	return s
}

// next says who should try next, one of each endpoint that has a free slot.
func (p *places) next() []model.EntityID {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []model.EntityID
	for _, s := range p.by {
		if id, ok := s.next(); ok {
			all = append(all, id)
		}
	}
	return all
}
