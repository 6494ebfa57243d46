package storetest

import (
	"sync"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
	"github.com/garm-operator/garm-operator/internal/server/webhook"
)

// Store is a database of the server.
type Store interface {
	fleet.Store
	service.Store
	webhook.Store
	Close() error
}

// Database opens one database again and again.
type Database interface {
	// Open opens the database, which is empty at first, with a passphrase.
	Open(t *testing.T, passphrase string, feed model.Feed) (Store, error)
	// Contains says whether the database holds a text in the clear.
	Contains(t *testing.T, text string) bool
}

// Run tests a kind of database; fresh makes a new, empty one.
func Run(t *testing.T, fresh func(t *testing.T) Database) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"a new database has a controller and github.com": testFresh,
		"there is one administrator":                     testAdmin,
		"names are unique without letter case":           testUnique,
		"what is referred to is not deleted":             testReferences,
		"equal values write nothing":                     testNoOp,
		"an error leaves the row alone":                  testRefusedUpdate,
		"tags keep their first spelling":                 testTags,
		"slots are never taken twice":                    testReserve,
		"what users do not see moves no time":            testHidden,
		"histories are bounded":                          testHistory,
		"jobs are recorded once":                         testJobs,
		"the feed follows the commits":                   testFeed,
		"writers wait for each other":                    testWriters,
		"everything survives a restart":                  testRestart,
		"secrets are sealed":                             testSecrets,
		"old webhook secrets are kept":                   testWebhookState,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fixture{database: fresh(t), feed: &recorder{}}
			f.reopen(t)
			test(t, f)
		})
	}
}

// Passphrase is what the suite opens databases with.
const Passphrase = "a9Kd03jfLq82nvBx71mWzPq45tYhs6Gc"

// fixture is an open database and what it published.
type fixture struct {
	Store
	database Database
	feed     *recorder
}

func (f *fixture) reopen(t *testing.T) {
	t.Helper()
	if f.Store != nil {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := f.database.Open(t, Passphrase, f.feed)
	if err != nil {
		t.Fatal(err)
	}
	f.Store = s
	t.Cleanup(func() { _ = s.Close() })
}

// recorder is a feed that keeps everything.
type recorder struct {
	mu      sync.Mutex
	changes []model.Change
}

func (r *recorder) Publish(changes ...model.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, changes...)
}

// take returns what came since the last call.
func (r *recorder) take() []model.Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	changes := r.changes
	r.changes = nil
	return changes
}
