package conformance_test

import (
	"os"
	"testing"

	"github.com/garm-operator/garm-operator/garm/provider"
)

// TestMain lets this program be its own external provider: a server that runs it as one sets the command.
func TestMain(m *testing.M) {
	if os.Getenv("GARM_COMMAND") != "" {
		os.Exit(serveMachines(os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var _ provider.Provider = machines{}
