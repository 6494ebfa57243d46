package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Tools runs the program of tools/release, which is built on first use. Close removes it.
type Tools struct {
	// Root is the directory of the repository.
	Root string

	mu  sync.Mutex
	dir string
}

// Run runs a sub-command of the program and returns what it writes to its standard output; what it writes to the other
// becomes part of the error.
func (t *Tools) Run(ctx context.Context, args ...string) ([]byte, error) {
	program, err := t.Program(ctx)
	if err != nil {
		return nil, err
	}
	return output(exec.CommandContext(ctx, program, args...))
}

// Program returns the path of the program, which is built when it is first asked for.
func (t *Tools) Program(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != "" {
		return filepath.Join(t.dir, "release"), nil
	}
	if err := t.look(); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "garm-release-")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "release"), "./release")
	cmd.Dir = filepath.Join(t.Root, "tools")
	if _, err := output(cmd); err != nil {
		return "", errors.Join(fmt.Errorf("build tools/release: %w", err), os.RemoveAll(dir))
	}
	t.dir = dir
	return filepath.Join(dir, "release"), nil
}

// look looks at all that the program is built from and reads. Go keeps the results of tests as long as the files that they looked
// at stay the same, and does not see what another program reads.
func (t *Tools) look() error {
	for _, dir := range []string{"charts", "config", "tools"} {
		err := filepath.WalkDir(filepath.Join(t.Root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("look at what manifests are rendered from: %w", err)
		}
	}
	return nil
}

// Close removes the program.
func (t *Tools) Close() error {
	if t.dir == "" {
		return nil
	}
	return os.RemoveAll(t.dir)
}

func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, stderr.Bytes())
	}
	return out, nil
}
