// Package api_test proves the custom resources against a real API server without webhooks: what their definitions promise,
// accept and refuse.
package api_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// deadline bounds every wait for the API server.
const deadline = 2 * time.Minute

// start starts the one control plane of this package when a test first needs it.
var start = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	plane, err := controlplane.Start(context.Background(), controlplane.Options{CRDs: crd.Bases})
	server = plane
	return plane, err
})

// server is what start has started, nil before.
var server *controlplane.ControlPlane

func TestMain(m *testing.M) {
	code := m.Run()
	if server != nil {
		code = max(code, finish())
	}
	os.Exit(code)
}

// finish stops the control plane, and tells of rules that have not been tried.
func finish() (code int) {
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if !whole() {
		return code
	}
	left, err := untried()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	for _, r := range left {
		fmt.Fprintf(os.Stderr, "no test sees a value refused by the rule %s\n", r)
		code = 1
	}
	return code
}

// cluster is what a test needs of the API server: clients, and a namespace of its own.
type cluster struct {
	client.WithWatch
	config    *rest.Config
	namespace string
}

func connect(t *testing.T) *cluster {
	t.Helper()
	// Read within the test, so that go test does not answer from its cache when the variable changes.
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	plane, err := start()
	if err != nil {
		t.Fatal(err)
	}
	config := plane.Config()
	config.WarningHandler = rest.NoWarnings{}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "api-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatalf("create a namespace: %v", err)
	}
	return &cluster{WithWatch: c, config: config, namespace: namespace.Name}
}

// eventually repeats check until it returns nil, and fails the test with its last error at the deadline.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if err := wait.Until(ctx, check); err != nil {
		t.Fatal(err)
	}
}
