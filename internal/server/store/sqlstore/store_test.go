package sqlstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
	"github.com/garm-operator/garm-operator/internal/server/store/storetest"
)

// file is a SQLite database.
type file string

func (f file) Open(t *testing.T, passphrase string, feed model.Feed) (storetest.Store, error) {
	return sqlstore.Open(t.Context(), sqlstore.Options{Path: string(f), Passphrase: passphrase, Feed: feed})
}

func (f file) Contains(t *testing.T, text string) bool {
	t.Helper()
	paths, err := filepath.Glob(string(f) + "*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no database files at %s: %v", f, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Database { return file(filepath.Join(t.TempDir(), "garm test?.db")) })
}
