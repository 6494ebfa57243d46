package remotetest

import (
	"context"
	"maps"
	"slices"

	"github.com/garm-operator/garm-operator/garm"
)

// table holds the rows of one kind by id.
type table[T any] map[string]T

// rows returns the rows in the order of their ids, each as a list shows it.
func (t table[T]) rows(show func(T) T) []T {
	rows := make([]T, 0, len(t))
	for _, id := range slices.Sorted(maps.Keys(t)) {
		rows = append(rows, show(t[id]))
	}
	return rows
}

func same[T any](v T) T { return v }

func listOf[T any](ctx context.Context, s *Server, op string, t *table[T], show func(T) T) ([]T, error) {
	if err := s.enter(ctx, op, true); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return t.rows(show), nil
}

func getOf[T any](ctx context.Context, s *Server, op string, t *table[T], id string) (T, error) {
	var zero T
	if err := s.enter(ctx, op, true); err != nil {
		return zero, err
	}
	defer s.mu.Unlock()
	row, ok := (*t)[id]
	if !ok {
		return zero, Error(op, 404)
	}
	return row, nil
}

func createOf[T any](ctx context.Context, s *Server, op string, t *table[T], kind garm.EntityType, build func() (string, T, error)) (T, error) {
	var zero T
	if err := s.enter(ctx, op, true); err != nil {
		return zero, err
	}
	defer s.mu.Unlock()
	id, row, err := build()
	if err != nil {
		return zero, err
	}
	if _, ok := (*t)[id]; ok {
		return zero, Error(op, 409)
	}
	(*t)[id] = row
	s.emit(kind, garm.OperationCreate, row)
	return row, nil
}

func updateOf[T any](ctx context.Context, s *Server, op string, t *table[T], kind garm.EntityType, id string, change func(*T)) (T, error) {
	var zero T
	if err := s.enter(ctx, op, true); err != nil {
		return zero, err
	}
	defer s.mu.Unlock()
	row, ok := (*t)[id]
	if !ok {
		return zero, Error(op, 404)
	}
	change(&row)
	(*t)[id] = row
	s.emit(kind, garm.OperationUpdate, row)
	return row, nil
}

func deleteOf[T any](ctx context.Context, s *Server, op string, t *table[T], kind garm.EntityType, id string, gone func(T) any) error {
	if err := s.enter(ctx, op, true); err != nil {
		return err
	}
	defer s.mu.Unlock()
	row, ok := (*t)[id]
	if !ok {
		return nil
	}
	delete(*t, id)
	s.emit(kind, garm.OperationDelete, gone(row))
	return nil
}
