package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/garm-operator/garm-operator/internal/filelock"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Options configure a store.
type Options struct {
	// Path is the database file; it is made where it does not exist.
	Path string
	// Passphrase seals secrets. A database that was made with another one does not open.
	Passphrase string
	// BusyTimeout is how long a statement waits for another process; 5 s by default.
	BusyTimeout time.Duration
	// Patience is how long Open waits for another server that works with the database, and may be about to end; 30 s by default.
	Patience time.Duration
	// Feed gets every committed change; nil for none.
	Feed model.Feed
	// Now is the clock; time.Now by default.
	Now func() time.Time
}

// Store is the database of a server.
type Store struct {
	lock   *os.File
	writer *sql.DB
	reader *prepared
	// turn holds one token: who has it may write, and publish what it wrote before the next one commits.
	turn chan struct{}
	seal *sealer
	feed model.Feed
	now  func() time.Time
}

// Open opens the database, brings its schema up to date and fills a new one: a controller id and the endpoint of
// github.com. It is an error when another server works with the database: each would take what the other is making for leftovers.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Feed == nil {
		o.Feed = noFeed{}
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	s := &Store{turn: make(chan struct{}, 1), seal: newSealer(o.Passphrase), feed: o.Feed, now: o.Now}
	var err error
	if s.lock, err = filelock.Take(ctx, o.Path+".lock", o.Patience); errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another server works with the database %s: stop it first (a Deployment: strategy Recreate), or use another database", o.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", o.Path, err)
	}
	if s.writer, err = connect(o, 1, "&_txlock=immediate"); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context, o Options) (err error) {
	if err = migrate(ctx, s.writer); err != nil {
		return fmt.Errorf("bringing the database %s up to date: %w", o.Path, err)
	}
	reader, err := connect(o, max(4, 2*runtime.NumCPU()), "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	s.reader = &prepared{DB: reader}
	if err = s.initialize(ctx); err != nil {
		return fmt.Errorf("opening the database %s: %w", o.Path, err)
	}
	return nil
}

func connect(o Options, connections int, extra string) (*sql.DB, error) {
	// The first counts for a file that has no table yet, and comes too late after the next.
	dsn := "file:" + (&url.URL{Path: o.Path}).EscapedPath() + "?_pragma=auto_vacuum(incremental)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)" +
		fmt.Sprintf("&_pragma=busy_timeout(%d)", o.BusyTimeout.Milliseconds()) + extra
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", o.Path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Close ends all connections. Transactions that run are waited for.
func (s *Store) Close() error {
	errs := []error{s.writer.Close()}
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Ping says whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.reader.PingContext(ctx) }

type noFeed struct{}

func (noFeed) Publish(...model.Change) {}
