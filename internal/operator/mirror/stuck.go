package mirror

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// stuckFields remembers what a server did not apply, so that it is not sent for ever.
type stuckFields struct {
	mu    sync.Mutex
	known map[types.UID]stuckField
}

type stuckField struct {
	generation int64
	fields     []string
}

func (s *stuckFields) set(obj Object, fields []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[types.UID]stuckField{}
	}
	s.known[obj.GetUID()] = stuckField{generation: obj.GetGeneration(), fields: slices.Clone(fields)}
}

func (s *stuckFields) same(obj Object, fields []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known[obj.GetUID()]
	return ok && k.generation == obj.GetGeneration() && slices.Equal(k.fields, fields)
}

func (s *stuckFields) clear(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, uid)
}
