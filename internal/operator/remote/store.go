package remote

import (
	"reflect"
	"sync"
	"time"
)

// traits tell a store what it needs to know of a kind.
type traits[T any] struct {
	kind    Kind
	id      func(T) string
	natural func(T) string
	parent  func(T) string
	// updated is zero where the server does not say when the object changed.
	updated func(T) time.Time
	// normal brings an object into the one form that is kept, so that equal objects compare equal.
	normal func(*T)
	// keep copies from old into fresh what the source of fresh does not show.
	keep func(old T, fresh *T, from origin)
	// detailed says whether an object shows what only a GET, a write or an event can show.
	detailed func(T) bool
	// clone makes a copy that shares nothing that can be written to.
	clone func(T) T
	// ailing says that an object is in a state that passes without an event. Nil means never.
	ailing func(T) bool
	// final says that an id is never used again, so that a deletion can be believed out of order.
	final bool
	// ties says that objects change without a new time, so that of two with equal times the later one is taken.
	ties bool
}

// origin is where an object was read.
type origin int

const (
	fromList origin = iota
	fromEvent
	fromWrite
	fromGet
)

// entry is an object and when, on the store's own clock, something was last learnt of it.
type entry[T any] struct {
	obj T
	seq uint64
	// detail is the object's time when its details were last seen, and whether they ever were.
	detail      time.Time
	detailKnown bool
}

// store merges what lists, events, GETs and own writes say of the objects of one kind. Its clock counts what it learns;
// whoever asks the server takes a reading before, so that an answer is never taken for newer than what came meanwhile.
type store[T any] struct {
	traits[T]

	mu        sync.RWMutex
	clock     uint64
	synced    bool
	entries   map[string]*entry[T]
	byNatural index
	byParent  index
	tombs     tombstones
	// doubts are what events without a time said, by id, until a list or an own write tells.
	doubts map[string]doubt[T]
}

// doubt is what an event without a time said, and when.
type doubt[T any] struct {
	obj T
	seq uint64
}

func newStore[T any](t traits[T]) *store[T] {
	return &store[T]{traits: t, entries: map[string]*entry[T]{}, byNatural: index{}, byParent: index{}}
}

// begin reads the clock before a request.
func (s *store[T]) begin() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	return s.clock
}

// applyList takes the answer of a list that began at start. What was learnt since wins, unless the list is newer by the
// server's own time.
func (s *store[T]) applyList(start uint64, objs []T) []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	for id, d := range s.doubts {
		if d.seq <= start { // what came while the list was under way stays open
			delete(s.doubts, id)
		}
	}
	var notices []Notice
	seen := make(map[string]struct{}, len(objs))
	for _, obj := range objs {
		s.normal(&obj)
		id := s.id(obj)
		seen[id] = struct{}{}
		if s.tombs.after(id, start) || s.newer(id, start, obj) {
			continue
		}
		s.tombs.drop(id)
		notices = append(notices, s.put(id, obj, fromList)...)
	}
	for id, e := range s.entries {
		if _, ok := seen[id]; !ok && e.seq <= start {
			notices = append(notices, s.remove(id)...)
		}
	}
	if !s.synced {
		s.synced = true
		notices = append(notices, Notice{Kind: s.kind})
	}
	return notices
}

// applyObject takes the answer of a GET or a write that began at start. Own writes win over lists and events of the same
// time.
func (s *store[T]) applyObject(start uint64, obj T, from origin) []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.normal(&obj)
	s.clock++
	id := s.id(obj)
	if id == "" || s.tombs.after(id, start) {
		return nil
	}
	if e, ok := s.entries[id]; ok && e.seq > start && s.updated(e.obj).After(s.updated(obj)) {
		return nil
	}
	s.tombs.drop(id)
	return s.put(id, obj, from)
}

// mostLate is by how much an event may be older than what is known and be taken for late. Beyond, the server's clock was set
// back, and its times order nothing until a list has told what is so.
const mostLate = time.Minute

// applyEvent takes an object that an event showed.
func (s *store[T]) applyEvent(obj T) (EventResult, []Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.normal(&obj)
	s.clock++
	id := s.id(obj)
	if id == "" {
		return EventInvalid, nil
	}
	if s.tombs.has(id) {
		if s.final {
			return EventStale, nil
		}
		return EventDirty, nil
	}
	e, known := s.entries[id]
	if known {
		s.keep(e.obj, &obj, fromEvent)
		if reflect.DeepEqual(e.obj, obj) {
			return EventStale, nil
		}
	}
	t := s.updated(obj)
	switch {
	case t.IsZero():
		return s.hold(id, obj), nil
	case !known:
		if s.natural(obj) == "" {
			return EventDirty, nil
		}
	case t.Before(s.updated(e.obj)):
		if s.updated(e.obj).Sub(t) > mostLate {
			return EventDirty, nil
		}
		return EventStale, nil
	case t.Equal(s.updated(e.obj)):
		if s.ties {
			return EventDirty, s.put(id, obj, fromEvent)
		}
		return EventDirty, nil
	}
	return EventApplied, s.put(id, obj, fromEvent)
}

// applyDelete takes a deletion that an event told or a write did. An own deletion is always believed; an event's only
// where ids are final.
func (s *store[T]) applyDelete(id string, own bool) (EventResult, []Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	if !own && !s.final {
		if _, known := s.entries[id]; !known {
			return EventStale, nil
		}
		return EventDirty, nil
	}
	notices := s.remove(id)
	s.tombs.add(id, s.clock, true)
	if notices == nil {
		return EventStale, nil
	}
	return EventApplied, notices
}

// maxDoubts bounds what is remembered of events without a time; beyond, a list is cheaper.
const maxDoubts = 1024

// hold remembers an event that cannot be ordered. The event of an own write often overtakes the answer to it, which then
// says the same.
func (s *store[T]) hold(id string, obj T) EventResult {
	if len(s.doubts) >= maxDoubts {
		return EventDirty
	}
	if s.doubts == nil {
		s.doubts = map[string]doubt[T]{}
	}
	s.doubts[id] = doubt[T]{s.clone(obj), s.clock}
	return EventDoubt
}

// resolve forgets a doubt that an own write has answered.
func (s *store[T]) resolve(id string, written T) {
	said, open := s.doubts[id]
	if !open {
		return
	}
	s.keep(written, &said.obj, fromEvent)
	if reflect.DeepEqual(written, said.obj) {
		delete(s.doubts, id)
	}
}

// doubtful says whether an event is not answered yet.
func (s *store[T]) doubtful() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.doubts) > 0
}

// newer says whether what is held of id was learnt after start and is not older than obj.
func (s *store[T]) newer(id string, start uint64, obj T) bool {
	e, ok := s.entries[id]
	return ok && e.seq > start && !s.updated(obj).After(s.updated(e.obj))
}

// put stores obj, a normal one.
func (s *store[T]) put(id string, obj T, from origin) []Notice {
	e, known := s.entries[id]
	if !known {
		e = &entry[T]{}
	}
	if from >= fromWrite || s.detailed(obj) {
		e.detail, e.detailKnown = s.updated(obj), true
	}
	if known {
		s.keep(e.obj, &obj, from)
	}
	e.seq = s.clock
	if from == fromWrite {
		s.resolve(id, obj)
	}
	if known && reflect.DeepEqual(e.obj, obj) {
		return nil
	}
	var notices []Notice
	if known {
		s.unindex(id, e.obj)
		if old := s.notice(id, e.obj); old != s.notice(id, obj) {
			notices = append(notices, old)
		}
	}
	e.obj = s.clone(obj)
	s.entries[id] = e
	s.byNatural.add(s.natural(obj), id)
	s.byParent.add(s.parent(obj), id)
	return append(notices, s.notice(id, obj))
}

func (s *store[T]) remove(id string) []Notice {
	e, ok := s.entries[id]
	if !ok {
		return nil
	}
	s.unindex(id, e.obj)
	delete(s.entries, id)
	s.tombs.add(id, s.clock, false)
	return []Notice{s.notice(id, e.obj)}
}

func (s *store[T]) unindex(id string, obj T) {
	s.byNatural.remove(s.natural(obj), id)
	s.byParent.remove(s.parent(obj), id)
}

func (s *store[T]) notice(id string, obj T) Notice {
	return Notice{Kind: s.kind, ID: id, NaturalKey: s.natural(obj), Parent: s.parent(obj)}
}

// index maps a key to the ids of the objects that have it.
type index map[string]map[string]struct{}

func (x index) add(key, id string) {
	if key == "" {
		return
	}
	if x[key] == nil {
		x[key] = map[string]struct{}{}
	}
	x[key][id] = struct{}{}
}

func (x index) remove(key, id string) {
	delete(x[key], id)
	if len(x[key]) == 0 {
		delete(x, key)
	}
}
