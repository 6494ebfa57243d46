// Package filelock lets one process at a time work on what it has on disk.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// every is how often a lock that somebody holds is tried.
const every = 100 * time.Millisecond

// ErrHeld means that somebody else holds the lock, and has not let it go in time.
var ErrHeld = errors.New("another process holds the lock")

// Take takes the lock that a file stands for, and makes the file where it does not exist. The lock is held until the returned file
// is closed or the process ends, however it ends. Where somebody holds it, Take waits: until ctx ends, which is the error then,
// and for patience at most, after which the error is ErrHeld.
func Take(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock: %w", err)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	timeout := time.After(patience)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(fmt.Errorf("take the lock %s: %w", path, err), file.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-timeout:
			return nil, errors.Join(ErrHeld, file.Close())
		}
	}
}
