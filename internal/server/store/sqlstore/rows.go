package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// field ties a column to the place of its value, which is read from and written to.
type field struct {
	column string
	value  any
}

// table says how a noun is kept. key is its identifying column; own are the columns that are written, joined those
// that are only read, with their alias.
type table[T any] struct {
	name   string
	key    string
	joins  string
	order  string
	own    func(*T) []field
	joined func(*T) []field
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (t table[T]) fields(row *T) []field {
	fields := make([]field, 0, 40)
	for _, f := range t.own(row) {
		fields = append(fields, field{t.name + "." + f.column, f.value})
	}
	if t.joined != nil {
		fields = append(fields, t.joined(row)...)
	}
	return fields
}

// list returns the rows that meet a condition, in the table's order.
func (t table[T]) list(ctx context.Context, q querier, where string, args ...any) ([]T, error) {
	var columns []string
	for _, f := range t.fields(new(T)) {
		columns = append(columns, f.column)
	}
	query := "SELECT " + strings.Join(columns, ", ") + " FROM " + t.name + " " + t.joins
	if where != "" {
		query += " WHERE " + where
	}
	rows, err := q.QueryContext(ctx, query+" ORDER BY "+t.order, args...)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t.name, err)
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		var row T
		var targets []any
		for _, f := range t.fields(&row) {
			targets = append(targets, f.value)
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("reading %s: %w", t.name, err)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", t.name, err)
	}
	return list, nil
}

// one returns the single row that meets a condition, or missing.
func (t table[T]) one(ctx context.Context, q querier, missing error, where string, args ...any) (T, error) {
	var none T
	rows, err := t.list(ctx, q, where, args...)
	if err != nil {
		return none, err
	}
	if len(rows) == 0 {
		return none, missing
	}
	return rows[0], nil
}

// insert adds a row. extra are columns that are no part of the noun. It returns the rowid.
func (t table[T]) insert(ctx context.Context, q querier, row *T, extra ...field) (int64, error) {
	var columns, marks []string
	var args []any
	for _, f := range append(t.own(row), extra...) {
		columns, marks, args = append(columns, f.column), append(marks, "?"), append(args, f.value)
	}
	result, err := q.ExecContext(ctx, "INSERT INTO "+t.name+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// update writes all columns of the row with the given key.
func (t table[T]) update(ctx context.Context, q querier, key any, row *T, extra ...field) error {
	return t.set(ctx, q, key, append(t.own(row), extra...))
}

// set changes columns of a row.
func (t table[T]) set(ctx context.Context, q querier, key any, fields []field) error {
	var sets []string
	var args []any
	for _, f := range fields {
		sets, args = append(sets, f.column+" = ?"), append(args, f.value)
	}
	_, err := q.ExecContext(ctx, "UPDATE "+t.name+" SET "+strings.Join(sets, ", ")+" WHERE "+t.key+" = ?", append(args, key)...)
	return err
}

// nanos keeps a time as nanoseconds since 1970; the zero time is 0.
type nanos struct{ t *time.Time }

func (n nanos) Value() (driver.Value, error) {
	if n.t.IsZero() {
		return int64(0), nil
	}
	return n.t.UnixNano(), nil
}

func (n nanos) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is kept as %T", src)
	}
	*n.t = time.Time{}
	if v != 0 {
		*n.t = time.Unix(0, v).UTC()
	}
	return nil
}

// asJSON keeps a list as JSON text.
type asJSON struct{ v any }

func (j asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(j.v)
	return string(text), err
}

func (j asJSON) Scan(src any) error {
	switch text := src.(type) {
	case string:
		return json.Unmarshal([]byte(text), j.v)
	case []byte:
		return json.Unmarshal(text, j.v)
	}
	return fmt.Errorf("JSON is kept as %T", src)
}

// rowID is an id that the database gives: zero is written as NULL.
type rowID[T ~int64 | ~uint] struct{ id *T }

func (r rowID[T]) Value() (driver.Value, error) {
	if *r.id == 0 {
		return nil, nil //nolint:nilnil // NULL makes the database choose
	}
	return int64(*r.id), nil
}

func (r rowID[T]) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return errors.New("an id is not a number")
	}
	*r.id = T(v)
	return nil
}
