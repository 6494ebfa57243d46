package sqlstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
)

// What is deleted does not stay in the file for ever.
func TestSV55FileShrinks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "garm.db")
	opened := func() *sqlstore.Store {
		s, err := open(t, path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// size is that of the file when nothing is left in the log beside it.
	size := func(s *sqlstore.Store) int64 {
		t.Helper()
		shut(t, s)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	s := opened()
	text := strings.Repeat("x", 16<<20)
	if _, err := s.UpdateEndpoint(t.Context(), "github.com", func(e *model.Endpoint, _ bool) error { e.Description = text; return nil }); err != nil {
		t.Fatal(err)
	}
	full := size(s)
	s = opened()
	if _, err := s.UpdateEndpoint(t.Context(), "github.com", func(e *model.Endpoint, _ bool) error { e.Description = "small"; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if small := size(s); full < 16<<20 || small > 6<<20 {
		t.Errorf("the file has %d bytes after %d", small, full)
	}
	s = opened()
	defer s.Close()
	if e, err := s.Endpoint(t.Context(), "github.com"); err != nil || e.Description != "small" {
		t.Errorf("the endpoint is %q, %v", e.Description, err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Errorf("with nothing to give back: %v", err)
	}
}
