package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/filelock"
)

// One at a time has the lock, and who waits for another gets it when that is done.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Take(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Take(t.Context(), path, time.Millisecond); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a second one: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Take(ended, path, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("when it is stopped: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		second, err := filelock.Take(t.Context(), path, time.Minute)
		if err == nil {
			err = second.Close()
		}
		done <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("after the first: %v", err)
	}
}
