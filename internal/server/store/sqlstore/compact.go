package sqlstore

import (
	"context"
	"fmt"
)

const (
	// keptPages is how many free pages stay in the file, since they are soon needed again; 4 MiB.
	keptPages = 1024
	// pagesAtOnce bounds for how long other writers wait.
	pagesAtOnce = 512
)

// Compact gives space back to the file system that deleted rows have left in the file, little by little. Databases that
// were made without that ability stay as they are.
func (s *Store) Compact(ctx context.Context) error {
	before := -1
	for {
		var free int
		if err := s.reader.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
			return fmt.Errorf("compacting the database: %w", err)
		}
		if free <= keptPages || free == before {
			return nil
		}
		before = free
		if err := s.release(ctx, min(pagesAtOnce, free-keptPages)); err != nil {
			return fmt.Errorf("compacting the database: %w", err)
		}
	}
}

// release gives pages back. Each step of the statement gives back one, so all of its rows are taken.
func (s *Store) release(ctx context.Context, pages int) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	rows, err := s.writer.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		continue
	}
	return rows.Err()
}
