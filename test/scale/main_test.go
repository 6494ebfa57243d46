// Package scale_test counts what the operator costs and proves that nothing is lost or made twice: with 200 Pools, with
// 500 runners, when it is killed, when events get lost and when the server fails. It runs the real program against a real
// API server and a real GARM server, and counts at a proxy between them and in the API server's audit log.
package scale_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/programs"
)

// shared is made once, by the first test that needs it.
type shared struct {
	plane    *controlplane.ControlPlane
	programs *programs.Programs
}

var bringUp = sync.OnceValues(func() (*shared, error) {
	operator, err := programs.Build(context.Background(), "../..", "garm-operator")
	if err != nil {
		return nil, err
	}
	made = &shared{programs: operator}
	made.plane, err = controlplane.Start(context.Background(), controlplane.Options{CRDs: crd.Bases, Audit: true})
	return made, err
})

// made is what bringUp has made so far, nil before.
var made *shared

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // else controller-runtime complains that nobody did
	// The tests mostly wait; more of them than there are processors may do so at a time.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := m.Run()
	if made != nil {
		var err error
		if made.plane != nil {
			err = made.plane.Stop()
		}
		if err = errors.Join(err, made.programs.Remove()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// environment returns what is shared, or skips the test where there is no API server to be had.
func environment(tb testing.TB) *shared {
	tb.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		tb.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	s, err := bringUp()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// namespaceOf derives the name of a namespace from that of a test.
func namespaceOf(tb testing.TB) string {
	return strings.Trim(strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, tb.Name())), "-")
}
