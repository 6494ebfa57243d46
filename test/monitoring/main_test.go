package monitoring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/wait"
)

const (
	// deadline bounds every wait.
	deadline  = 3 * time.Minute
	namespace = "monitoring"
	root      = "../.."
)

// machines is a provider whose machines are names: it answers that they run, and does nothing else.
const machines = `#!/bin/sh
case "$GARM_COMMAND" in
CreateInstance)
	name=$(sed -n 's/.*"name":"\([^"]*\)".*/\1/p' | head -n 1)
	echo "{\"provider_id\":\"m-$name\",\"name\":\"$name\",\"os_type\":\"linux\",\"os_arch\":\"amd64\",\"status\":\"running\"}" ;;
ListInstances) echo "[]" ;;
esac
`

// world is a running operator with one resource of each kind at least, all of them Ready, but for one that is paused.
type world struct {
	*stack.Stack
	plane   *controlplane.ControlPlane
	metrics string
	dir     string
	stop    func() error
}

var up = sync.OnceValues(func() (*world, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	w := &world{}
	made = w
	var err error
	if w.dir, err = os.MkdirTemp("", "monitoring-"); err != nil {
		return nil, err
	}
	if w.plane, err = controlplane.Start(context.Background(), controlplane.Options{CRDs: crd.Bases}); err != nil {
		return nil, err
	}
	provider := filepath.Join(w.dir, "machines")
	if err := os.WriteFile(provider, []byte(machines), 0o700); err != nil {
		return nil, err
	}
	if w.Stack, err = stack.Up(ctx, stack.Options{Plane: w.plane, Dir: w.dir, Namespace: namespace, Provider: provider}); err != nil {
		return nil, err
	}
	if w.metrics, err = freeport.Address(ctx); err != nil {
		return nil, err
	}
	w.run()
	return w, w.fill(ctx)
})

// made is what up has made so far, nil before.
var made *world

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	code := m.Run()
	if err := made.down(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func (w *world) down() error {
	if w == nil {
		return nil
	}
	var err error
	if w.stop != nil {
		err = w.stop()
	}
	if w.Stack != nil {
		err = errors.Join(err, w.Down())
	}
	if w.plane != nil {
		err = errors.Join(err, w.plane.Stop())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

func (w *world) run() {
	config := operatorconfig.Config{
		GARM: operatorconfig.GARM{Server: w.Proxy.URL(), Username: stack.User, Password: stack.Password, Init: true, Email: stack.Email},
		Operator: operatorconfig.Operator{
			MetricsBindAddress: w.metrics, HealthProbeBindAddress: "0", SyncPeriod: 5 * time.Minute, WatchNamespace: namespace,
			SyncRunnersInterval: 5 * time.Second, MinIdleRunnersAge: 2 * time.Hour, RunnerConcurrency: 1, RepositoryConcurrency: 1,
			OrganizationConcurrency: 1, EnterpriseConcurrency: 1, PoolConcurrency: 1, RunnerReconciliation: true,
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- operatorapp.Run(ctx, config, operatorapp.Options{RestConfig: w.plane.Config(), Log: logr.FromSlogHandler(slog.DiscardHandler)})
	}()
	w.stop = func() error { cancel(); return <-done }
}

// fill makes the resources and waits for them.
func (w *world) fill(ctx context.Context) error {
	scope := w.Organization(stack.Org).Spec
	pool := w.Pool("builders")
	pool.Spec.MinIdleRunners, pool.Spec.RunnerPrefix = 1, "ci"
	objects := append(
		w.Base(), pool,
		&v1beta1.Enterprise{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "octo-enterprise"}, Spec: v1beta1.EnterpriseSpec{
			CredentialsRef: scope.CredentialsRef, WebhookSecretRef: scope.WebhookSecretRef,
		}},
		&v1beta1.Repository{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "widgets"}, Spec: v1beta1.RepositorySpec{
			Owner: stack.Org, CredentialsRef: scope.CredentialsRef, WebhookSecretRef: scope.WebhookSecretRef,
		}},
	)
	if err := w.Apply(ctx, objects...); err != nil {
		return err
	}
	if err := w.WaitReady(ctx, objects...); err != nil {
		return err
	}
	paused := w.Pool("paused")
	paused.Annotations = map[string]string{v1beta1.AnnotationPaused: "holiday"}
	if err := w.Apply(ctx, paused); err != nil {
		return err
	}
	return wait.Until(ctx, func() error {
		runners := &v1beta1.RunnerList{}
		if err := w.Kube.List(ctx, runners, client.InNamespace(namespace)); err != nil {
			return err
		}
		if len(runners.Items) == 0 || runners.Items[0].Status.ProviderID == "" {
			return fmt.Errorf("no runner is shown with its machine: %+v", runners.Items)
		}
		if err := w.Kube.Get(ctx, client.ObjectKeyFromObject(paused), paused); err != nil {
			return err
		}
		if len(paused.Status.Conditions) == 0 {
			return errors.New("the paused Pool has no conditions")
		}
		return nil
	})
}

// running returns the world, or skips the test where there is no API server to be had.
func running(t *testing.T) *world {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	w, err := up()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// scrape reads the operator's metrics.
func (w *world) scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.metrics+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", res.Status, err)
	}
	return families(t, body)
}

func families(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return found
}
