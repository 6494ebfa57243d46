// Package server_test proves the server as a whole: the real program with its database, external providers as real
// processes, and a simulated GitHub.
package server_test

import (
	"context"
	"os"
	"testing"

	"github.com/garm-operator/garm-operator/internal/app/garm"
)

// asServer is the argument that makes this program the server.
const asServer = "garm"

// TestMain lets this program be the external provider of the server under test, or that server itself, so that it can be
// killed.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("GARM_COMMAND") != "":
		os.Exit(servePark(os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) > 1 && os.Args[1] == asServer:
		os.Exit(garm.Main(context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
