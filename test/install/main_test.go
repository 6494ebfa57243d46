// Package install_test installs the shipped manifests into a real API server and runs the operator with exactly the
// rights, arguments and environment that they give it.
package install_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/manifests"
)

// deadline bounds every wait.
const deadline = 3 * time.Minute

const (
	namespace = "garm-operator-system"
	prefix    = "garm-operator-"
)

var tools = &manifests.Tools{Root: "../.."}

var start = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	p, err := controlplane.Start(context.Background(), controlplane.Options{ControllerManager: true, Audit: true, AuditReads: true})
	plane = p
	return p, err
})

// plane is what start has started, nil before.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if plane != nil {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := tools.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// installing is held by the test that has something installed: names are fixed, so there is room for one.
var installing sync.Mutex

// controlPlane returns the API server that the tests share.
func controlPlane(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// kustomize renders an overlay.
func kustomize(t *testing.T, o manifests.Overlay) []byte {
	t.Helper()
	text, err := tools.Kustomize(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
