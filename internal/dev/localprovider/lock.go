package localprovider

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// pollEvery is how often a lock that somebody holds is tried.
const pollEvery = 10 * time.Millisecond

// locks is how many lock files serve all names: enough that machines seldom wait for each other, and never more.
const locks = 64

// lock keeps other calls about the same machine out until the returned function is called.
func (p *Local) lock(ctx context.Context, name string) (func(), error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	path := filepath.Join(p.config.StateDir, fmt.Sprintf(".lock-%02d", h.Sum32()%locks))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", name, err)
	}
	err = poll(ctx, func() (bool, error) { return tryLock(file, syscall.LOCK_EX) })
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("locking %s: %w", name, err)
	}
	return func() { _ = file.Close() }, nil
}

// tryLock takes a lock of the kind, unless somebody holds one that excludes it.
func tryLock(file *os.File, kind int) (bool, error) {
	err := syscall.Flock(int(file.Fd()), kind|syscall.LOCK_NB)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	}
	return false, err
}

// poll asks until the answer is yes, there is an error, or ctx ends.
func poll(ctx context.Context, ask func() (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
