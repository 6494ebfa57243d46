package sqlstore_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/store/sqlstore"
	"github.com/garm-operator/garm-operator/internal/server/store/storetest"
)

// alter makes changes to a closed database past the store.
func alter(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// open opens a database at a path, and is closed by the caller.
func open(t *testing.T, path string) (*sqlstore.Store, error) {
	t.Helper()
	return sqlstore.Open(t.Context(), sqlstore.Options{Path: path, Passphrase: storetest.Passphrase})
}

// shut closes a store.
func shut(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A database of the first release is brought up to date and keeps what it holds. Its webhooks may have been installed by the
// server, so that a secret that the forge cannot be told does not make the one before worthless.
func TestDatabaseOfTheFirstRelease(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "garm.db")
	s, err := open(t, path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.CreateCredentials(ctx, model.Credentials{Name: "c", AuthType: model.AuthPAT, Endpoint: model.Endpoint{Name: "github.com"}}, model.ForgeSecret{Token: "ghp_x"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.CreateEntity(ctx, model.Entity{Kind: model.KindOrganization, Name: "octo-org", Credentials: c}, []byte("hook-very-secret"))
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	alter(t, path, "ALTER TABLE entities DROP COLUMN webhook_installed", "ALTER TABLE entities DROP COLUMN old_webhook_secrets",
		"ALTER TABLE entities DROP COLUMN webhook_told_at", "DELETE FROM goose_db_version WHERE version_id > 1")

	if s, err = open(t, path); err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	got, err := s.WebhookState(ctx, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := (model.WebhookState{Installed: true, Secret: []byte("hook-very-secret")}); !cmp.Equal(want, got) {
		t.Error("the webhook is another one than before")
	}
}

// A database that a later release has written is refused, and stays as it is.
func TestDatabaseOfALaterRelease(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "garm.db")
	s, err := open(t, path)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	alter(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	s, err = open(t, path)
	if err == nil {
		shut(t, s)
		t.Fatal("it was opened")
	}
	for _, want := range []string{path, "later release", "9999", "restore"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
