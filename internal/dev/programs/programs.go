// Package programs gives tests the project's programs, as "make build" makes them.
package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// DirVariable names the environment variable that holds the directory of programs that are up to date, as an absolute path. "make
// test" builds them once and sets it for all tests.
//
// Go keeps the result of a test as long as the packages it imports stay the same, and does not see which programs it runs: a test
// that runs one imports what the program is made of, with a blank name.
const DirVariable = "TEST_PROGRAMS"

// Programs are the project's programs.
type Programs struct {
	// Dir is the directory that holds them.
	Dir string

	made bool
}

// Build returns the programs in the directory that DirVariable names, all of them. Where it is not set, it builds those with the
// given names into a temporary directory, which Remove removes. Root is the directory of the repository.
func Build(ctx context.Context, root string, names ...string) (*Programs, error) {
	if dir := os.Getenv(DirVariable); dir != "" {
		return &Programs{Dir: dir}, nil
	}
	dir, err := os.MkdirTemp("", "garm-programs-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for programs: %w", err)
	}
	made := &Programs{Dir: dir, made: true}
	args := []string{"build", "-trimpath", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./cmd/"+name)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		_ = made.Remove()
		return nil, fmt.Errorf("build %v: %w\n%s", names, err, out)
	}
	return made, nil
}

// Path returns the path of a program.
func (p *Programs) Path(name string) string { return filepath.Join(p.Dir, name) }

// Remove removes what Build has built. It may be called for nil.
func (p *Programs) Remove() error {
	if p == nil || !p.made {
		return nil
	}
	return os.RemoveAll(p.Dir)
}
