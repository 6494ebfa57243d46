// Package upgrade_test proves that resources of old releases, stored as v1alpha1, are taken over where they are.
package upgrade_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
)

// deadline bounds every wait.
const deadline = 3 * time.Minute

const (
	operatorNamespace = "garm-operator-system"
	oldFleet          = "fleet-old" // the namespace of testdata/fleet.yaml
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// cluster is a control plane of a test's own, since its definitions change.
type cluster struct {
	*stack.Stack
	t     *testing.T
	ctx   context.Context
	plane *controlplane.ControlPlane
	kube  client.Client // of both versions
	port  int           // of the webhooks
	probe int
}

// bare is a control plane alone.
func bare(t *testing.T) *cluster {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*deadline)
	t.Cleanup(cancel)
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	if err := errors.Join(
		clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme),
	); err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, ctx: ctx, plane: plane}
	c.kube = c.as(scheme)
	for _, name := range []string{operatorNamespace, oldFleet} {
		c.must(c.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	return c
}

// setup adds a GARM server and a simulated GitHub.
func setup(t *testing.T) *cluster {
	t.Helper()
	c := bare(t)
	out := &stack.Output{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out.String())
		}
	})
	var err error
	c.Stack, err = stack.Up(c.ctx, stack.Options{
		Plane: c.plane, Dir: t.TempDir(), Namespace: oldFleet, Provider: "/bin/false", OtherProviders: []string{"openstack", "os01.region-3"},
		Log: slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Down(); err != nil {
			t.Error(err)
		}
	})
	c.port, err = freeport.Port(c.ctx)
	c.must(err)
	c.probe, err = freeport.Port(c.ctx)
	c.must(err)
	return c
}

func (c *cluster) as(scheme *runtime.Scheme) client.Client {
	c.t.Helper()
	kube, err := client.New(c.plane.Config(), client.Options{Scheme: scheme})
	c.must(err)
	return kube
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) eventually(check func() error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeoutCause(c.ctx, deadline, fmt.Errorf("not within %s", deadline))
	defer cancel()
	c.must(wait.Until(ctx, check))
}

// operator starts the operator on some namespaces, and returns what stops it before the test does.
func (c *cluster) operator(namespaces string) (stop func()) {
	c.t.Helper()
	config := operatorconfig.Config{
		GARM: operatorconfig.GARM{Server: c.Proxy.URL(), Username: stack.User, Password: stack.Password, Init: true, Email: stack.Email},
		Operator: operatorconfig.Operator{
			MetricsBindAddress: "0", HealthProbeBindAddress: fmt.Sprintf("127.0.0.1:%d", c.probe), SyncPeriod: 5 * time.Minute, WatchNamespace: namespaces,
			SyncRunnersInterval: 5 * time.Second, MinIdleRunnersAge: 2 * time.Hour, RunnerConcurrency: 2, RepositoryConcurrency: 2,
			OrganizationConcurrency: 2, EnterpriseConcurrency: 1, PoolConcurrency: 2,
			WebhookEnabled: "true", WebhookPort: c.port, WebhookCertificates: operatorconfig.CertificatesSelfMade,
			WebhookSecret: "webhook-server-cert", WebhookConfiguration: webhookinstall.ConfigurationName,
		},
	}
	out := &stack.Output{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- operatorapp.Run(ctx, config, operatorapp.Options{
			RestConfig: c.plane.Config(), LeaderElectionNamespace: operatorNamespace, Log: logr.FromSlogHandler(slog.NewTextHandler(out, nil)),
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.t.Errorf("the operator stopped: %v", err)
		}
		if c.t.Failed() {
			c.t.Log(out.String())
		}
	})
	c.t.Cleanup(stop)
	return stop
}

// ready asks the operator's probe.
func (c *cluster) ready() error {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", c.probe), http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
