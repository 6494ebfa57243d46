package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate applies the migrations that the database does not have yet. A database of a later release is refused: this one does
// not know what its tables mean, and could spoil them.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return err
	}
	has, knows, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if has > knows {
		return fmt.Errorf("it was written by a later release (schema %d, and this release knows %d): run that release or a later one, "+
			"or restore a copy of the database from before the upgrade", has, knows)
	}
	_, err = provider.Up(ctx)
	return err
}
