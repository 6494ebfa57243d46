// Package operator_test proves the operator against a real API server and a real GARM server, with a simulated GitHub.
package operator_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/garm"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
	"github.com/garm-operator/garm-operator/internal/operator/status"
	"github.com/garm-operator/garm-operator/internal/operator/status/statustest"
)

// deadline bounds every wait.
const deadline = 3 * time.Minute

var start = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	p, err := controlplane.Start(context.Background(), controlplane.Options{CRDs: crd.Bases})
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
	if err := built.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// env is one environment with a running operator.
type env struct {
	*stack.Stack
	t         *testing.T
	ctx       context.Context
	namespace string
	dir       string
	plane     *controlplane.ControlPlane
	stop      func()
	config    operatorconfig.Config
	// wrap changes how operators speak to the API server; nil leaves it.
	wrap func(http.RoundTripper) http.RoundTripper
}

// setup brings up everything but the operator.
func setup(t *testing.T, changes ...func(*stack.Options)) *env {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*deadline)
	t.Cleanup(cancel)
	namespace := strings.ToLower(strings.NewReplacer("/", "-", "_", "-", ".", "-").Replace(t.Name()))
	namespace = fmt.Sprintf("%.40s-%d", namespace, time.Now().UnixNano()%1e6)
	out := &stack.Output{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out.String())
		}
	})
	log := slog.New(slog.NewTextHandler(out, nil))
	options := stack.Options{Plane: p, Dir: t.TempDir(), Namespace: namespace, Provider: "/bin/false", Log: log}
	for _, change := range changes {
		change(&options)
	}
	s, err := stack.Up(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Down(); err != nil {
			t.Error(err)
		}
	})
	e := &env{Stack: s, t: t, ctx: ctx, namespace: options.Namespace, dir: options.Dir, plane: options.Plane}
	e.config = operatorconfig.Config{
		GARM: operatorconfig.GARM{Server: s.Proxy.URL(), Username: stack.User, Password: stack.Password, Init: true, Email: stack.Email},
		Operator: operatorconfig.Operator{
			MetricsBindAddress: "0", HealthProbeBindAddress: "0", SyncPeriod: 5 * time.Minute, WatchNamespace: options.Namespace,
			SyncRunnersInterval: 5 * time.Second, MinIdleRunnersAge: 2 * time.Hour, RunnerConcurrency: 10, RepositoryConcurrency: 10,
			OrganizationConcurrency: 5, EnterpriseConcurrency: 1, PoolConcurrency: 10,
		},
	}
	return e
}

// eachDialect runs a test with either generation of server, side by side.
func eachDialect(t *testing.T, test func(t *testing.T, dialect garmproxy.Dialect)) {
	for name, dialect := range map[string]garmproxy.Dialect{"own": nil, "v0.1.5": garmproxy.V015()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, dialect)
		})
	}
}

// run starts the operator; it stops with the test, or with e.stop.
func (e *env) run() *env {
	e.t.Helper()
	e.stop = e.start(operatorapp.Options{})
	return e
}

// restarted stops the operator, starts it anew, waits until it has listed, and returns the requests before its start.
func (e *env) restarted() garmproxy.Counts {
	e.t.Helper()
	e.stop()
	atRest := e.Proxy.Counts()
	e.run()
	e.eventually(func() error {
		if e.Proxy.Counts().Since(atRest).Of("GET", "/instances", 200) < 1 {
			return fmt.Errorf("the restarted operator has not listed yet")
		}
		return nil
	})
	return atRest
}

// start starts an operator, and returns what stops it before the test does.
func (e *env) start(options operatorapp.Options) (stop func()) {
	e.t.Helper()
	out := &stack.Output{}
	options.RestConfig, options.Log = e.plane.Config(), logr.FromSlogHandler(slog.NewTextHandler(out, nil))
	if e.wrap != nil {
		options.RestConfig.Wrap(e.wrap)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	config := e.config
	go func() { done <- operatorapp.Run(ctx, config, options) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			e.t.Errorf("the operator stopped: %v", err)
		}
		if e.t.Failed() {
			e.t.Log(out.String())
		}
	})
	e.t.Cleanup(stop)
	return stop
}

func (e *env) apply(objects ...client.Object) {
	e.t.Helper()
	if err := e.Apply(e.ctx, objects...); err != nil {
		e.t.Fatal(err)
	}
}

// ready waits until the resources are Ready, and checks the laws of conditions.
func (e *env) ready(objects ...client.Object) {
	e.t.Helper()
	ctx, cancel := context.WithTimeoutCause(e.ctx, deadline, fmt.Errorf("not within %s", deadline))
	defer cancel()
	if err := e.WaitReady(ctx, objects...); err != nil {
		e.t.Fatal(err)
	}
	for _, o := range objects {
		if c, ok := o.(v1beta1.Conditioned); ok {
			for _, err := range statustest.Laws(c) {
				e.t.Errorf("%T %s: %v", o, o.GetName(), err)
			}
		}
	}
}

func (e *env) eventually(check func() error) {
	e.t.Helper()
	ctx, cancel := context.WithTimeoutCause(e.ctx, deadline, fmt.Errorf("not within %s", deadline))
	defer cancel()
	if err := wait.Until(ctx, check); err != nil {
		e.t.Fatal(err)
	}
}

// condition waits until a resource has a condition with a status and reason.
func (e *env) condition(obj client.Object, kind, want, reason string) {
	e.t.Helper()
	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		c := status.Find(obj.(v1beta1.Conditioned), kind)
		if c == nil || string(c.Status) != want || c.Reason != reason {
			return fmt.Errorf("%s has %s %+v, not %s %s", obj.GetName(), kind, c, want, reason)
		}
		if c.ObservedGeneration != obj.GetGeneration() {
			return fmt.Errorf("%s speaks of generation %d, not %d", kind, c.ObservedGeneration, obj.GetGeneration())
		}
		return nil
	})
}

func (e *env) delete(obj client.Object) {
	e.t.Helper()
	if err := e.Kube.Delete(e.ctx, obj); err != nil {
		e.t.Fatal(err)
	}
}

// gone waits until the resources are gone from the API server.
func (e *env) gone(objects ...client.Object) {
	e.t.Helper()
	e.eventually(func() error {
		for _, o := range objects {
			err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(o), o)
			if err == nil {
				c, _ := o.(v1beta1.Conditioned)
				return fmt.Errorf("%T %s is still there: %+v", o, o.GetName(), status.Find(c, v1beta1.ConditionReady))
			}
			if client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	})
}

// edit changes a resource, however often it is written meanwhile.
func edit[O client.Object](e *env, obj O, change func(O)) {
	e.t.Helper()
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		e.t.Fatal(err)
	}
	base := obj.DeepCopyObject().(O)
	change(obj)
	if err := e.Kube.Patch(e.ctx, obj, client.MergeFrom(base)); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) pools() []garm.Pool {
	e.t.Helper()
	pools, err := e.GARM.ListPools(e.ctx)
	if err != nil {
		e.t.Fatal(err)
	}
	return pools
}

// byHand makes a pool at the server without the operator: with a tag beside linux, and else as e.Pool would have it.
func (e *env) byHand(org *v1beta1.Organization, tag string) garm.Pool {
	e.t.Helper()
	pool, err := e.GARM.CreateOrganizationPool(e.ctx, org.Status.ID, garm.CreatePoolParams{
		ProviderName: "local", MaxRunners: 4, Image: "ubuntu-24.04", Flavor: "small", OSType: "linux", OSArch: "amd64",
		Tags: []string{"linux", tag}, Enabled: true, RunnerBootstrapTimeout: 20,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return pool
}

// message returns what Ready says.
func message(obj v1beta1.Conditioned) string {
	if c := status.Find(obj, v1beta1.ConditionReady); c != nil {
		return c.Message
	}
	return ""
}
