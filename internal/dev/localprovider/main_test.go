package localprovider_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// programs is where the real programs were built.
var programs string

func TestMain(m *testing.M) { os.Exit(withPrograms(m.Run)) }

// withPrograms builds the programs, as the garm server and users have them, and runs the tests.
func withPrograms(run func() int) int {
	dir, err := os.MkdirTemp("", "localprovider")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", dir, "../../../cmd/garm-dev", "../../../cmd/garm-runner")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the programs:", err)
		return 1
	}
	programs = dir
	return run()
}
