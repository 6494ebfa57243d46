package sqlstore

import (
	"context"
	"database/sql"
	"sync"
)

// prepared is a database that parses each of its queries once a connection: parsing takes longer than finding a row. It keeps
// them for good, so the texts have to be a fixed few, with what varies as arguments.
type prepared struct {
	*sql.DB
	statements sync.Map // by text, *sql.Stmt
}

// QueryContext is that of sql.DB.
func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, query) //nolint:sqlclosecheck // kept for the next time
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (p *prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known, ok := p.statements.Load(query); ok {
		return known.(*sql.Stmt), nil
	}
	statement, err := p.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if known, ok := p.statements.LoadOrStore(query, statement); ok {
		_ = statement.Close() //nolint:sqlclosecheck // another caller was faster; what is kept is not closed
		return known.(*sql.Stmt), nil
	}
	return statement, nil
}
