package install_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/manifests"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
)

// installation is what one test has installed, with a GARM server and a GitHub.
type installation struct {
	*stack.Stack
	t     *testing.T
	ctx   context.Context
	plane *controlplane.ControlPlane
	port  int       // of the webhook server
	begun time.Time // when nothing was installed yet

	namespaces []string // all that it has made
}

// variables are the values of an installation.
func (i *installation) variables(watch string) map[string]string {
	return map[string]string{
		"GARM_SERVER_URL": i.Proxy.URL(), "GARM_SERVER_USERNAME": stack.User, "GARM_SERVER_PASSWORD": stack.Password, "OPERATOR_WATCH_NAMESPACE": watch,
	}
}

// setup brings up what the operator needs, once no other test has anything installed.
func setup(t *testing.T, options stack.Options) *installation {
	t.Helper()
	p := controlPlane(t)
	installing.Lock()
	t.Cleanup(installing.Unlock)
	ctx, cancel := context.WithTimeout(t.Context(), 4*deadline) // the tools may have to be built first
	t.Cleanup(cancel)
	out := &stack.Output{}
	options.Plane, options.Dir, options.Log = p, t.TempDir(), slog.New(slog.NewTextHandler(out, nil))
	options.Namespace = namespace
	var err error
	if options.Provider, err = stack.WriteProvider(options.Dir); err != nil {
		t.Fatal(err)
	}
	s, err := stack.Up(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Down(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(out.String())
		}
	})
	port, err := freeport.Port(ctx)
	if err != nil {
		t.Fatal(err)
	}
	i := &installation{Stack: s, t: t, ctx: ctx, plane: p, port: port, begun: time.Now(), namespaces: []string{namespace}}
	t.Cleanup(i.clear)
	return i
}

// install applies rendered manifests, as kubectl does, and takes the rights away again when the test ends.
func (i *installation) install(text []byte, values map[string]string) {
	i.t.Helper()
	objects, err := manifests.Decode(manifests.Expand(text, values))
	if err != nil {
		i.t.Fatal(err)
	}
	for _, o := range objects {
		i.callURL(o)
		i.apply(o)
		if o.GroupVersionKind().Group == rbacv1.GroupName {
			i.t.Cleanup(func() {
				if err := i.Kube.Delete(context.Background(), o); client.IgnoreNotFound(err) != nil {
					i.t.Error(err)
				}
			})
		}
	}
}

// callURL makes the API server, which knows no Services here, call the operator's webhooks at a URL.
func (i *installation) callURL(o *unstructured.Unstructured) {
	i.t.Helper()
	var typed client.Object
	switch o.GetKind() {
	case "ValidatingWebhookConfiguration":
		typed = &admissionregistrationv1.ValidatingWebhookConfiguration{}
	case "CustomResourceDefinition":
		typed = &apiextensionsv1.CustomResourceDefinition{}
	default:
		return
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
		i.t.Fatal(err)
	}
	webhookinstall.CallURL(typed, fmt.Sprintf("https://localhost:%d", i.port))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		i.t.Fatal(err)
	}
	delete(fields, "status")
	o.Object = fields
}

func (i *installation) apply(o *unstructured.Unstructured) {
	i.t.Helper()
	if err := i.tryApply(o); err != nil {
		i.t.Fatal(err)
	}
}

func (i *installation) tryApply(o *unstructured.Unstructured) error {
	err := i.Kube.Apply(i.ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// config returns what the operator of the installed Deployment is configured with, except that its ports are free ones.
func (i *installation) config() operatorconfig.Config {
	i.t.Helper()
	deployment := &appsv1.Deployment{}
	if err := i.Kube.Get(i.ctx, client.ObjectKey{Namespace: namespace, Name: prefix + "controller-manager"}, deployment); err != nil {
		i.t.Fatal(err)
	}
	start, err := manifests.StartOf(i.ctx, i.Kube, deployment)
	if err != nil {
		i.t.Fatal(err)
	}
	out := &stack.Output{}
	loaded, err := operatorconfig.Load(start.Args, start.Environ, out)
	if err != nil {
		i.t.Fatalf("the arguments %q are refused: %v\n%s", start.Args, err, out)
	}
	if len(loaded.Warnings) > 0 {
		i.t.Errorf("the arguments %q warn: %q", start.Args, loaded.Warnings)
	}
	config := loaded.Config
	config.Operator.MetricsBindAddress, config.Operator.HealthProbeBindAddress = "0", "0"
	// "auto" means true inside a cluster.
	config.Operator.WebhookEnabled, config.Operator.WebhookPort = "true", i.port
	config.Operator.RunnerReconciliation = true // the one choice that a user would have to make for every kind to be at work
	return config
}

// account is the user that the installed Pod is.
const account = "system:serviceaccount:" + namespace + ":" + prefix + "controller-manager"

// serviceAccount is the configuration of a client with the rights of the installed Pod.
func (i *installation) serviceAccount() *rest.Config {
	c := i.plane.Config()
	c.Impersonate = rest.ImpersonationConfig{
		UserName: account, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	return c
}

// operator is one that runs in the test's process.
type operator struct {
	cancel context.CancelFunc
	wait   func() error // for its end
}

func (o *operator) stop() error {
	o.cancel()
	return o.wait()
}

// run starts the operator with the rights of its service account, which have to suffice.
func (i *installation) run(config operatorconfig.Config) *operator {
	i.t.Helper()
	out := &stack.Output{}
	i.t.Cleanup(func() { // after the operator has ended
		if strings.Contains(strings.ToLower(out.String()), "forbidden") {
			i.t.Error("the operator was refused something")
		}
	})
	return i.start(config, out)
}

// start starts the operator with the rights of its service account. It stops with the test at the latest.
func (i *installation) start(config operatorconfig.Config, out *stack.Output, changes ...func(*operatorapp.Options)) *operator {
	i.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	options := operatorapp.Options{
		RestConfig: i.serviceAccount(), Log: logr.FromSlogHandler(slog.NewTextHandler(out, nil)), LeaderElectionNamespace: namespace,
	}
	for _, change := range changes {
		change(&options)
	}
	go func() { done <- operatorapp.Run(ctx, config, options) }()
	o := &operator{cancel: cancel, wait: sync.OnceValue(func() error { return <-done })}
	i.t.Cleanup(func() {
		if err := o.stop(); err != nil && !i.t.Failed() {
			i.t.Logf("the operator ended with %v", err)
		}
		if i.t.Failed() {
			i.t.Log(out.String())
		}
	})
	return o
}

func (i *installation) eventually(check func() error) {
	i.t.Helper()
	ctx, cancel := context.WithTimeoutCause(i.ctx, deadline, fmt.Errorf("not within %s", deadline))
	defer cancel()
	if err := wait.Until(ctx, check); err != nil {
		i.t.Fatal(err)
	}
}
