// Package lifecycle_test proves how the operator begins and ends: with a server of its own, as one of several replicas, and
// with the namespaces that it works in. It needs a cluster whose namespaces go when they are deleted.
package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/garm"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/programs"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

// patience bounds every wait.
const patience = 3 * time.Minute

var start = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	p, err := controlplane.Start(context.Background(), controlplane.Options{CRDs: crd.Bases, ControllerManager: true})
	plane = p
	return p, err
})

// build builds the program once.
var build = sync.OnceValues(func() (*programs.Programs, error) {
	p, err := programs.Build(context.Background(), "../..", "garm-operator")
	built = p
	return p, err
})

// plane is what start has started, and built what build has built; nil before.
var (
	plane *controlplane.ControlPlane
	built *programs.Programs
)

// TestMain also proves that operators and servers that have stopped leave no goroutine behind.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	var err error
	if plane != nil {
		err = plane.Stop()
	}
	err = errors.Join(err, built.Remove())
	if code == 0 {
		// Not ours: a watch of controller-runtime that is stopped with an event in hand waits for somebody to take it.
		err = errors.Join(err, goleak.Find(goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// env is an environment without an operator.
type env struct {
	*stack.Stack
	t         *testing.T
	ctx       context.Context
	plane     *controlplane.ControlPlane
	namespace string
	dir       string
}

func setup(t *testing.T) *env {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	p, err := start()
	if errors.Is(err, controlplane.ErrNoAssets) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	t.Cleanup(cancel)
	dir := t.TempDir()
	provider, err := stack.WriteProvider(dir)
	if err != nil {
		t.Fatal(err)
	}
	namespace := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	e := &env{t: t, ctx: ctx, plane: p, dir: dir, namespace: fmt.Sprintf("%.40s-%d", namespace, time.Now().UnixNano()%1e6)}
	if e.Stack, err = stack.Up(ctx, stack.Options{Plane: p, Dir: dir, Namespace: e.namespace, Provider: provider}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Down(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// config returns the configuration of an operator that works in the environment, by the server at url.
func (e *env) config(url string) operatorconfig.Config {
	return operatorconfig.Config{
		GARM: operatorconfig.GARM{Server: url, Username: stack.User, Password: stack.Password, Init: true, Email: stack.Email},
		Operator: operatorconfig.Operator{
			MetricsBindAddress: "0", HealthProbeBindAddress: "0", SyncPeriod: 5 * time.Minute, WatchNamespace: e.namespace,
			SyncRunnersInterval: 5 * time.Second, MinIdleRunnersAge: 2 * time.Hour, RunnerConcurrency: 10, RepositoryConcurrency: 10,
			OrganizationConcurrency: 5, EnterpriseConcurrency: 1, PoolConcurrency: 10, RunnerReconciliation: true,
		},
	}
}

// operator is one that runs in the test's process.
type operator struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// run starts an operator, which stops with the test at the latest.
func (e *env) run(config operatorconfig.Config) *operator {
	e.t.Helper()
	out := &stack.Output{}
	ctx, cancel := context.WithCancel(context.Background())
	o := &operator{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.err = operatorapp.Run(ctx, config, operatorapp.Options{
			RestConfig: e.plane.Config(), Log: logr.FromSlogHandler(slog.NewTextHandler(out, nil)), LeaderElectionNamespace: e.namespace,
		})
	}()
	e.t.Cleanup(func() {
		_ = o.stop()
		if e.t.Failed() {
			e.t.Log(out.String())
		}
	})
	return o
}

// stop stops the operator and returns how it ended.
func (o *operator) stop() error {
	o.cancel()
	<-o.done
	return o.err
}

func (e *env) until(check func() error) {
	e.t.Helper()
	ctx, cancel := context.WithTimeoutCause(e.ctx, patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	if err := wait.Until(ctx, check); err != nil {
		e.t.Fatal(err)
	}
}

// ready waits until the namespace has n Pools and all are Ready, and until they stand for n different pools at the server.
func (e *env) ready(n int) {
	e.t.Helper()
	ctx, cancel := context.WithTimeoutCause(e.ctx, patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	pools, err := e.WaitAllReady(ctx, n)
	if err != nil {
		e.t.Fatal(err)
	}
	var remote []garm.Pool
	e.until(func() (err error) { // a server in a process that has just been started may not serve yet
		remote, err = e.GARM.ListPools(e.ctx)
		return err
	})
	ids := map[string]bool{}
	for _, p := range pools {
		ids[p.Status.ID] = true
	}
	if len(ids) != n || len(remote) != n {
		e.t.Errorf("%d Pools stand for %d pools of %d at the server", n, len(ids), len(remote))
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// healthy says whether an operator's probes succeed.
func healthy(ctx context.Context, address string) error {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/healthz", "/readyz"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", path, res.Status)
		}
	}
	return nil
}
