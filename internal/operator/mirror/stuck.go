package mirror

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stuckFields remembers what a server did not apply, so that it is not sent for ever: of each resource the fields, and
// what they were to become.
type stuckFields struct {
	mu    sync.Mutex
	known map[types.NamespacedName]stuckField
}

type stuckField struct {
	wish   wish
	fields []string
}

// wish identifies what a resource wants: itself, its spec, and what its references hold.
type wish struct {
	uid        types.UID
	generation int64
	inputs     string
}

func wishOf(obj client.Object, inputs string) wish {
	return wish{uid: obj.GetUID(), generation: obj.GetGeneration(), inputs: inputs}
}

func (s *stuckFields) set(obj client.Object, inputs string, fields []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[types.NamespacedName]stuckField{}
	}
	s.known[client.ObjectKeyFromObject(obj)] = stuckField{wish: wishOf(obj, inputs), fields: slices.Clone(fields)}
}

// same says whether the server did not apply these very values before.
func (s *stuckFields) same(obj client.Object, inputs string, fields []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known[client.ObjectKeyFromObject(obj)]
	return ok && k.wish == wishOf(obj, inputs) && slices.Equal(k.fields, fields)
}

func (s *stuckFields) forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, name)
}
