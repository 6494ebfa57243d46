package remote

import (
	"slices"
	"strings"
)

// get returns the object with an id, whether there is one, and whether the store knows.
func (s *store[T]) get(id string) (obj T, found, synced bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e, ok := s.entries[id]; ok {
		return s.clone(e.obj), true, s.synced
	}
	return obj, false, s.synced
}

// named returns the objects with a natural key, in the order of their ids.
func (s *store[T]) named(key string) ([]T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.collect(s.byNatural[key]), s.synced
}

// owned returns the objects with a parent, in the order of their ids.
func (s *store[T]) owned(parent string) ([]T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.collect(s.byParent[parent]), s.synced
}

// all returns every object, in the order of their ids.
func (s *store[T]) all() ([]T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	objs := make([]T, 0, len(s.entries))
	for _, e := range s.entries {
		objs = append(objs, s.clone(e.obj))
	}
	s.sort(objs)
	return objs, s.synced
}

// details says whether what only a GET shows of an object is known, and whether it is as new as the rest.
func (s *store[T]) details(id string) (known, current bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.entries[id]
	if !ok || !e.detailKnown {
		return false, false
	}
	return true, e.detail.Equal(s.updated(e.obj))
}

// told says whether the server itself has said that the object with an id is gone.
func (s *store[T]) told(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tombs.told(id)
}

// degraded says whether any object is ailing.
func (s *store[T]) degraded() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.ailing == nil {
		return false
	}
	for _, e := range s.entries {
		if s.ailing(e.obj) {
			return true
		}
	}
	return false
}

func (s *store[T]) known() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.synced
}

func (s *store[T]) collect(ids map[string]struct{}) []T {
	if len(ids) == 0 {
		return nil
	}
	objs := make([]T, 0, len(ids))
	for id := range ids {
		objs = append(objs, s.clone(s.entries[id].obj))
	}
	s.sort(objs)
	return objs
}

func (s *store[T]) sort(objs []T) {
	slices.SortFunc(objs, func(a, b T) int { return strings.Compare(s.id(a), s.id(b)) })
}
