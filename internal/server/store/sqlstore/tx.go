package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// tx is a transaction that remembers what it changed.
type tx struct {
	*sql.Tx
	changes []model.Change
	written bool
}

func (t *tx) changed(op model.Operation, object any) {
	t.written = true
	t.changes = append(t.changes, model.Change{Operation: op, Object: object})
}

// write runs do in one immediate transaction and publishes its changes before the next transaction begins. An error of do
// is returned as it is.
func (s *Store) write(ctx context.Context, what string, do func(*tx) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	plain, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	t := &tx{Tx: plain}
	if err := do(t); err != nil {
		_ = plain.Rollback() // the error of do matters
		return err
	}
	if !t.written {
		_ = plain.Rollback() // nothing was written
		return nil
	}
	if err := plain.Commit(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	s.feed.Publish(t.changes...)
	return nil
}

// isDuplicate says whether err is the breach of a uniqueness rule.
func isDuplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
