package install_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
	"github.com/garm-operator/garm-operator/internal/dev/manifests"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/dev/webhookinstall"
	"github.com/garm-operator/garm-operator/internal/operator/access"
	"github.com/garm-operator/garm-operator/internal/operator/webhookcert"
)

// OP-56: without the ClusterRole for webhooks the operator says which rights are missing and what to do, is not ready, and does all
// else; once it has the role, the webhooks are served without a restart.
func TestOP56WithoutTheRoleForWebhooks(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{})
	i.install(kustomize(t, manifests.Overlay{Resources: []string{"default"}}), i.variables(namespace))
	binding := &rbacv1.ClusterRoleBinding{}
	if err := i.Kube.Get(i.ctx, client.ObjectKey{Name: prefix + "webhook-rolebinding"}, binding); err != nil {
		t.Fatal(err)
	}
	if err := i.Kube.Delete(i.ctx, binding); err != nil {
		t.Fatal(err)
	}
	i.eventually(i.hooksAreForbidden)

	config := i.config()
	probes, err := freeport.Port(i.ctx)
	if err != nil {
		t.Fatal(err)
	}
	config.Operator.HealthProbeBindAddress = fmt.Sprintf("127.0.0.1:%d", probes)
	out := &stack.Output{}
	i.start(config, out, func(o *operatorapp.Options) {
		o.Certificate = func(c *webhookcert.Options) { c.Settle, c.Again = time.Second, time.Second }
	})
	for _, part := range []string{
		"not allowed to list, patch and watch", "validatingwebhookconfigurations.admissionregistration.k8s.io/" + access.WebhookConfiguration,
		"customresourcedefinitions.apiextensions.k8s.io/pools.garm-operator.mercedes-benz.com",
		"bind the ClusterRole garm-operator-webhook-role", "--operator-webhook-certificates=files", "--operator-webhook-enabled=false",
	} {
		i.eventually(func() error {
			if !strings.Contains(out.String(), part) {
				return fmt.Errorf("the log does not say %q", part)
			}
			return nil
		})
	}
	// All that no webhook is asked about.
	urls := v1beta1.URL(i.ServerURL())
	server := &v1beta1.GarmServerConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: stack.ServerConfig}, Spec: v1beta1.GarmServerConfigSpec{
		MetadataURL: urls + "/api/v1/metadata", CallbackURL: urls + "/api/v1/callbacks", WebhookURL: urls + "/webhooks",
	}}
	endpoint := i.Endpoint("github-rights")
	endpoint.Namespace = namespace
	for _, o := range []client.Object{server, endpoint} {
		if err := i.Apply(i.ctx, o); err != nil {
			t.Fatal(err)
		}
		i.eventually(func() error { return i.ready(o) })
	}
	if err := i.replicaReady(probes); err == nil {
		t.Error("the replica is ready although the API server cannot call it")
	}
	if missing := missingPermissions(t); missing["patch customresourcedefinitions"] == 0 || missing["list validatingwebhookconfigurations"] != 1 {
		t.Errorf("the metric shows %v", missing)
	}
	if n := strings.Count(out.String(), "not allowed to"); n != 1 {
		t.Errorf("%d lines say what is missing", n)
	}

	again := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: binding.Name}, RoleRef: binding.RoleRef, Subjects: binding.Subjects}
	if err := i.Kube.Create(i.ctx, again); err != nil {
		t.Fatal(err)
	}
	if err := webhookinstall.WaitServing(i.ctx, i.plane.Config()); err != nil {
		t.Fatal(err)
	}
	i.eventually(func() error { return i.replicaReady(probes) })
	i.eventually(func() error {
		if missing := missingPermissions(t); len(missing) > 0 {
			return fmt.Errorf("the metric still shows %v", missing)
		}
		return nil
	})
	i.remove([]client.Object{server, endpoint})
}

// hooksAreForbidden waits for the API server to take up that the role is bound no longer.
func (i *installation) hooksAreForbidden() error {
	c, err := client.New(i.serviceAccount(), client.Options{Scheme: i.Kube.Scheme()})
	if err != nil {
		return err
	}
	hooks := &admissionregistrationv1.ValidatingWebhookConfigurationList{}
	if err := c.List(i.ctx, hooks, client.MatchingFields{"metadata.name": access.WebhookConfiguration}); !apierrors.IsForbidden(err) {
		return errors.Join(errors.New("the webhooks may still be read"), err)
	}
	return nil
}

func (i *installation) replicaReady(port int) error {
	request, err := http.NewRequestWithContext(i.ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", port), http.NoBody)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// missingPermissions returns what garm_operator_permissions_missing shows, by verb and resource.
func missingPermissions(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "garm_operator_permissions_missing" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			shown[labels["verb"]+" "+labels["resource"]] = m.GetGauge().GetValue()
		}
	}
	return shown
}
