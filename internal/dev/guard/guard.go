// Package guard makes sure that no process and no file outlives the process that made them, however that ends.
package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// guardScript waits for the end of its standard input, which comes when the process that started it lets go of the pipe or
// dies of whatever cause, SIGKILL and a test's timeout included. Then it kills what the wrappers recorded, and after it the
// process groups of the machines that a local provider keeps below the directory, and removes the directory.
const guardScript = `
cat >/dev/null
for file in "$1"/*.pid; do
	[ -e "$file" ] || continue
	kill -KILL "$(cat "$file")" 2>/dev/null
done
for file in "$1"/machines/*/pid; do
	[ -e "$file" ] || continue
	kill -s KILL -- "-$(cat "$file")" 2>/dev/null
done
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`

// wrapperScript records its process id and becomes the program; the id stays the same.
const wrapperScript = `#!/bin/sh
echo $$ >%s
exec %s "$@"
`

// Guard kills programs and removes a directory once this process is gone. Programs that run in process groups of their own,
// so that a Ctrl-C does not reach them, would go on when their parent is killed.
type Guard struct {
	dir   string
	pipe  io.WriteCloser
	shell *exec.Cmd
}

// New starts the guard of a directory, which may have no other.
func New(dir string) (*Guard, error) {
	shell := exec.Command("/bin/sh", "-c", guardScript, "garm-guard", dir) //nolint:noctx // it outlives every context
	// A Ctrl-C at the terminal reaches the whole process group; the guard has to outlive it.
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := shell.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open the pipe of the guard: %w", err)
	}
	if err := shell.Start(); err != nil {
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	return &Guard{dir: dir, pipe: pipe, shell: shell}, nil
}

// Wrap returns the path of a script to run in place of a program. Programs of one name share the record: only the one that
// was started last is known.
func (g *Guard) Wrap(program string) (string, error) {
	name := filepath.Base(program)
	script := fmt.Sprintf(wrapperScript, quote(filepath.Join(g.dir, name+".pid")), quote(program))
	path := filepath.Join(g.dir, name+".sh")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		return "", fmt.Errorf("write the script that runs %s: %w", name, err)
	}
	return path, nil
}

// Forget drops the recorded process ids once the processes are known to be gone: the system may give the ids to others.
func (g *Guard) Forget() error {
	files, err := filepath.Glob(filepath.Join(g.dir, "*.pid"))
	if err != nil {
		return fmt.Errorf("find the recorded process ids: %w", err)
	}
	var failed error
	for _, file := range files {
		failed = errors.Join(failed, os.Remove(file))
	}
	return failed
}

// Release lets the guard do its work, which is little after an orderly stop, and waits for it.
func (g *Guard) Release() error {
	err := errors.Join(g.pipe.Close(), g.shell.Wait())
	if err != nil {
		return fmt.Errorf("clean up %s: %w", g.dir, err)
	}
	return nil
}

func quote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
