// Package admission_test proves the operator's webhooks against a real API server. No GARM server is there: webhooks are served
// without one.
package admission_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
)

// deadline bounds every wait.
const deadline = 2 * time.Minute

// operatorNamespace holds the certificates.
const operatorNamespace = "garm-operator-system"

// The control plane of all tests, and the webhooks of one operator that all but those about outages share.
var (
	plane *controlplane.ControlPlane
	kube  client.Client
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if os.Getenv(controlplane.AssetsVariable) == "" {
		os.Exit(m.Run())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	plane, err = controlplane.Start(ctx, controlplane.Options{CRDs: crd.Bases})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return 0, err
	}
	if kube, err = client.New(plane.Config(), client.Options{Scheme: scheme}); err != nil {
		return 0, err
	}
	if err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// needPlane skips a test where there is no control plane.
func needPlane(t *testing.T) {
	t.Helper()
	if plane == nil {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
}

// replica is a running operator.
type replica struct {
	port int
	log  *stack.Output
	stop func()
}

func (r *replica) url() string { return fmt.Sprintf("https://localhost:%d", r.port) }

// start starts an operator whose webhooks are on.
func start(t *testing.T, changes ...func(*operatorconfig.Operator, *operatorapp.Options)) *replica {
	t.Helper()
	needPlane(t)
	port, err := freeport.Port(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config := operatorconfig.Config{
		GARM: operatorconfig.GARM{Server: "http://127.0.0.1:1", Username: "admin", Password: "none"},
		Operator: operatorconfig.Operator{
			MetricsBindAddress: "0", HealthProbeBindAddress: "0", SyncPeriod: 5 * time.Minute, SyncRunnersInterval: 5 * time.Second,
			MinIdleRunnersAge: 2 * time.Hour, RunnerConcurrency: 1, RepositoryConcurrency: 1, OrganizationConcurrency: 1, EnterpriseConcurrency: 1,
			PoolConcurrency: 1, WebhookEnabled: "true", WebhookPort: port, WebhookCertificates: operatorconfig.CertificatesSelfMade,
			WebhookSecret: "webhook-server-cert", WebhookConfiguration: webhookinstall.ConfigurationName,
		},
	}
	out := &stack.Output{}
	options := operatorapp.Options{
		RestConfig: plane.Config(), LeaderElectionNamespace: operatorNamespace, Log: logr.FromSlogHandler(slog.NewTextHandler(out, nil)),
	}
	for _, change := range changes {
		change(&config.Operator, &options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- operatorapp.Run(ctx, config, options) }()
	r := &replica{port: port, log: out, stop: sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator stopped: %v", err)
		}
		if t.Failed() {
			t.Log(out.String())
		}
	})}
	t.Cleanup(r.stop)
	return r
}

// serving starts an operator and waits until the API server calls it.
func serving(t *testing.T, changes ...func(*operatorconfig.Operator, *operatorapp.Options)) *replica {
	t.Helper()
	r := start(t, changes...)
	install(t, r.url())
	waitServing(t)
	return r
}

// install makes the API server call an operator for as long as the test runs.
func install(t *testing.T, url string) {
	t.Helper()
	if err := webhookinstall.Install(t.Context(), plane.Config(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhookinstall.ConfigurationName}}
		if err := kube.Delete(context.Background(), hooks); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}

// waitServing waits until the API server asks the operator that it was last told of.
func waitServing(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if err := webhookinstall.WaitServing(ctx, plane.Config()); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), deadline, fmt.Errorf("not within %s", deadline))
	defer cancel()
	if err := wait.Until(ctx, func() error { return check(ctx) }); err != nil {
		t.Fatal(err)
	}
}

// namespace makes a namespace for a test.
func namespace(t *testing.T) string {
	t.Helper()
	needPlane(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "admission-"}}
	if err := kube.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// pool returns a Pool; two of one namespace are equal unless they are changed.
func pool(namespace, name string, changes ...func(*v1beta1.PoolSpec)) *v1beta1.Pool {
	group := v1beta1.Group
	p := &v1beta1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta1.PoolSpec{
		GitHubScopeRef: v1beta1.TypedLocalObjectReference{APIGroup: &group, Kind: "Organization", Name: "octo-org"},
		ProviderName:   "local", ImageName: "ubuntu", Flavor: "small", OSType: v1beta1.OSTypeLinux, OSArch: v1beta1.OSArchAMD64,
		Tags: []string{"linux", "small"}, MaxRunners: 4, RunnerBootstrapTimeout: 20, Enabled: true,
	}}
	for _, change := range changes {
		change(&p.Spec)
	}
	return p
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// empty says what is left in a namespace.
func empty(ctx context.Context, namespace string) error {
	for _, list := range []client.ObjectList{&v1beta1.ImageList{}, &v1beta1.PoolList{}, &v1beta1.RepositoryList{}} {
		if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%d left in %T", n, list)
		}
	}
	return nil
}
