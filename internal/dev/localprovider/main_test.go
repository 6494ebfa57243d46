package localprovider_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/programs"
)

// built are the real programs.
var built *programs.Programs

func TestMain(m *testing.M) { os.Exit(withPrograms(m.Run)) }

// withPrograms builds the programs, as the garm server and users have them, and runs the tests.
func withPrograms(run func() int) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	made, err := programs.Build(ctx, "../../..", "garm-dev", "garm-runner")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = made.Remove() }()
	built = made
	return run()
}
