package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// lockPatience is how long a process that is about to end may keep the data directory.
	lockPatience = 30 * time.Second
	// lockEvery is how often a lock that somebody holds is tried.
	lockEvery = 100 * time.Millisecond
)

// lock keeps other processes away from a data directory until the file is closed, or this process ends. It waits for patience
// at most.
func lock(ctx context.Context, dir string, patience time.Duration) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data directory: %w", err)
	}
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	timeout := time.After(patience)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(fmt.Errorf("lock the data directory %s: %w", dir, err), file.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-timeout:
			return nil, errors.Join(fmt.Errorf("another process uses the data directory %s: run one replica with an embedded server, with the update strategy Recreate", dir), file.Close())
		}
	}
}
