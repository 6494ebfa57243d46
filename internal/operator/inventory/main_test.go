package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/operator/inventory"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/remote/remotetest"
)

// deadline bounds every wait.
const deadline = 2 * time.Minute

var start = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	p, err := controlplane.Start(context.Background(), controlplane.Options{CRDs: crd.Bases, Audit: true})
	plane = p
	return p, err
})

// plane is what start has started, nil before.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	var err error
	if plane != nil {
		err = plane.Stop()
	}
	if code == 0 {
		err = errors.Join(err, goleak.Find())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// world is an API server, a GARM server in memory, and what a test does with them. All namespaces are watched.
type world struct {
	testing.TB
	server *remotetest.Server
	kube   client.Client
	scheme *runtime.Scheme
}

func newWorld(t testing.TB) *world {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	kube, err := client.New(p.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, server: remotetest.NewServer(), kube: kube, scheme: scheme}
	t.Cleanup(w.clear)
	return w
}

// clear leaves nothing to the next test.
func (w *world) clear() {
	ctx := context.Background()
	list := &v1beta1.RunnerList{}
	if err := w.kube.List(ctx, list); err != nil {
		w.Error(err)
	}
	for i := range list.Items {
		obj := &list.Items[i]
		base := obj.DeepCopy()
		obj.Finalizers = nil
		err := errors.Join(client.IgnoreNotFound(w.kube.Patch(ctx, obj, client.MergeFrom(base))), client.IgnoreNotFound(w.kube.Delete(ctx, obj)))
		if err != nil {
			w.Error(err)
		}
	}
}

// operator is a running manager with the controller of runners.
type operator struct {
	session *remote.Session
	stop    func()
}

type ctrlOptions = ctrl.Options

type setting func(*ctrlOptions, *inventory.Options, *remote.Options)

func (w *world) run(settings ...setting) *operator {
	w.Helper()
	skip := true
	manager := ctrl.Options{
		Scheme: w.scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	}
	options := inventory.Options{Mirror: true, Concurrency: 20}
	session := remote.Options{Server: "main", RunnerReconciliation: true}
	for _, set := range settings {
		set(&manager, &options, &session)
	}
	mgr, err := ctrl.NewManager(plane.Config(), manager)
	if err != nil {
		w.Fatal(err)
	}
	o := &operator{session: remote.New(w.server, session)}
	options.Session = o.session
	ctx, cancel := context.WithCancel(context.Background())
	if err := errors.Join(inventory.SetupWithManager(ctx, mgr, options), mgr.Add(o.session)); err != nil {
		w.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.Errorf("the manager stopped: %v", err)
		}
	})
	w.Cleanup(o.stop)
	return o
}

func (w *world) namespace() string {
	w.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "inventory-"}}
	if err := w.kube.Create(context.Background(), ns); err != nil {
		w.Fatal(err)
	}
	return ns.Name
}

// pool makes a Pool that has claimed a GARM pool with its own name as id.
func (w *world) pool(namespace, name string) *v1beta1.Pool {
	w.Helper()
	pool := &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta1.PoolSpec{
		GitHubScopeRef: v1beta1.TypedLocalObjectReference{Kind: "Organization", Name: "acme"}, ProviderName: "sim", MaxRunners: 5,
		Flavor: "small", OSType: v1beta1.OSTypeLinux, OSArch: v1beta1.OSArchAMD64, Tags: []string{"x"}, RunnerBootstrapTimeout: 20,
		ImageName: "ubuntu",
	}}
	if err := w.kube.Create(context.Background(), pool); err != nil {
		w.Fatal(err)
	}
	w.claim(pool, namespace+"/"+name)
	w.Cleanup(func() { _ = w.kube.Delete(context.Background(), pool) })
	return pool
}

func (w *world) claim(pool *v1beta1.Pool, id string) {
	w.Helper()
	pool.Status.ID, pool.Status.ControllerID = id, w.server.ControllerID()
	if err := w.kube.Status().Update(context.Background(), pool); err != nil {
		w.Fatal(err)
	}
}

// eventually repeats check until it returns nil, and fails the test with its last error at the deadline.
func (w *world) eventually(check func() error) {
	w.Helper()
	end := time.Now().Add(deadline)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			w.Fatalf("not within %s: %v", deadline, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// get reads a Runner; it returns nil where there is none.
func (w *world) get(namespace, name string) *v1beta1.Runner {
	w.Helper()
	obj := &v1beta1.Runner{}
	err := w.kube.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, obj)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return obj
}

// shown waits until a Runner shows a state, and returns it.
func (w *world) shown(namespace, name, state string) (obj *v1beta1.Runner) {
	w.Helper()
	w.eventually(func() error {
		obj = w.get(namespace, name)
		if obj == nil || obj.Status.Status != state {
			return fmt.Errorf("%s/%s is not shown as %s: %+v", namespace, name, state, obj)
		}
		return nil
	})
	return obj
}

// gone waits until a Runner is gone.
func (w *world) gone(namespace, name string) {
	w.Helper()
	w.eventually(func() error {
		if obj := w.get(namespace, name); obj != nil {
			return fmt.Errorf("%s/%s is still there: %+v", namespace, name, obj)
		}
		return nil
	})
}

// waits waits until a Runner that is being deleted says what it waits for.
func (w *world) waits(namespace, name, reason string) (obj *v1beta1.Runner) {
	w.Helper()
	w.eventually(func() error {
		obj = w.get(namespace, name)
		if obj == nil {
			return fmt.Errorf("%s/%s is gone", namespace, name)
		}
		if c := obj.Status.Conditions; len(c) == 0 || c[0].Reason != reason || obj.DeletionTimestamp == nil {
			return fmt.Errorf("%s/%s does not wait with %s: %+v", namespace, name, reason, c)
		}
		return nil
	})
	return obj
}

func (w *world) delete(namespace, name string) {
	w.Helper()
	obj := &v1beta1.Runner{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := w.kube.Delete(context.Background(), obj); err != nil {
		w.Fatal(err)
	}
}

// synced waits until the operator knows the server's instances.
func (w *world) synced(o *operator) {
	w.Helper()
	w.eventually(func() error {
		if v := o.session.View(); v == nil || !v.Synced() || !o.session.State().Events {
			return errors.New("the session has not listed everything")
		}
		return nil
	})
}

// relist makes the operator list the instances now.
func (w *world) relist(o *operator) {
	w.Helper()
	if err := o.session.View().Relist(context.Background(), remote.KindInstance, time.Now()); err != nil {
		w.Fatal(err)
	}
}
