package sqlstore_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
	"github.com/garm-operator/garm-operator/internal/server/store/storetest"
)

// Two servers never work with one database, and one that ends leaves it to the next.
func TestOneServerADatabase(t *testing.T) {
	t.Parallel()
	o := sqlstore.Options{Path: filepath.Join(t.TempDir(), "garm.db"), Passphrase: storetest.Passphrase, Patience: time.Millisecond}
	for range 2 {
		first, err := sqlstore.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sqlstore.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another server works with the database "+o.Path) {
			t.Errorf("a second one: %v", err)
		}
		shut(t, first)
	}
}
