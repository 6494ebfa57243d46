package install_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/manifests"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// OP-56, OP-57, OP-58, OP-10, OP-62: what the default manifests install is enough, and all that the operator uses: every shipped
// sample applies as it is and becomes Ready, runners are shown and go, a leader is elected, events are written.
func TestOP56ShippedRoleOfOneNamespace(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{PublicGitHub: true})
	i.install(kustomize(t, manifests.Overlay{Resources: []string{"default"}}), i.variables(namespace))
	i.storeOld(namespace)
	operator := i.run(i.config())
	samples, err := manifests.Decode(kustomize(t, manifests.Overlay{Resources: []string{"samples"}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range samples {
		i.eventually(func() error { return i.tryApply(o) }) // a Pool is refused until the webhooks are served
	}
	objects := i.converged(samples)
	i.eventually(func() error { return i.runnersShown(namespace, 3) })
	i.eventually(func() error {
		lease := &coordinationv1.Lease{}
		if err := i.Kube.Get(i.ctx, client.ObjectKey{Namespace: namespace, Name: access.Lease}, lease); err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return errors.New("nobody leads")
		}
		return nil
	})
	i.eventually(func() error {
		events := &corev1.EventList{}
		if err := i.Kube.List(i.ctx, events, client.InNamespace(namespace)); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, e := range events.Items {
			seen[e.InvolvedObject.Kind] = true
		}
		if !seen["Lease"] || !seen[v1beta1.KindPool] {
			return fmt.Errorf("there are events about %v alone", seen)
		}
		return nil
	})
	for _, o := range objects {
		switch o := o.(type) {
		case *v1beta1.GarmServerConfig:
			i.takesWebhooks(o)
		case *v1beta1.Pool:
			i.judges(o)
		}
	}
	i.remove(objects)
	i.endedWith(operator)
}

// takesWebhooks proves OP-62: the server has something at the path of the webhook URL.
func (i *installation) takesWebhooks(config *v1beta1.GarmServerConfig) {
	i.t.Helper()
	at, err := url.Parse(string(config.Spec.WebhookURL))
	if err != nil {
		i.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(i.ctx, http.MethodPost, i.ServerURL()+at.Path, strings.NewReader("{}"))
	if err != nil {
		i.t.Fatal(err)
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		i.t.Errorf("the webhook URL %s leads nowhere", config.Spec.WebhookURL)
	}
}

// OP-57: with a role for each of two namespaces the operator works in both, its own not among them, and uses each right in each.
func TestOP57SeveralNamespaces(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{})
	watched := []string{"team-a", "team-b"}
	i.install(kustomize(t, manifests.Install("components/other-namespaces")), i.variables(strings.Join(watched, ",")))
	for _, name := range watched {
		i.makeNamespace(name)
		i.install(kustomize(t, manifests.Overlay{Namespace: name, Resources: []string{"rbac/namespace"}}), nil)
	}
	i.storeOld(watched...)
	operator := i.run(i.config())
	for _, name := range watched {
		i.remove(i.fleet(name))
	}
	i.endedWith(operator)
}

// OP-23: a namespace that is deleted with the operator's role in it may lose the role first, which nobody can put back then. The
// role for all namespaces lets the operator finish, as docs/uninstall.md says.
func TestOP23NamespaceLosesItsRole(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{})
	i.install(kustomize(t, manifests.Install("components/other-namespaces")), i.variables("team-e"))
	i.makeNamespace("team-e")
	i.install(kustomize(t, manifests.Overlay{Namespace: "team-e", Resources: []string{"rbac/namespace"}}), nil)
	i.start(i.config(), &stack.Output{}) // not run, since it is refused some requests
	i.fleet("team-e")
	i.deleteNamespace("team-e")
	i.install(releaseFiles(t)["garm_operator_rbac_all_namespaces.yaml"], nil)
	i.finished("team-e")
	if n := i.left(); n > 0 {
		t.Errorf("%d pools and entities are left at GARM", n)
	}
}

// OP-57, OP-23: the variant for all namespaces works in every namespace. One that is deleted with all that is in it finishes. While
// no operator runs it waits, and webhooks that nobody answers do not keep it once the finalizers are taken off.
func TestOP57AllNamespaces(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{})
	i.install(kustomize(t, manifests.Install("components/all-namespaces")), i.variables("ignored"))
	i.makeNamespace("team-c")
	i.storeOld("team-c")
	operator := i.run(i.config())
	i.fleet("team-c")
	i.deleteNamespace("team-c")
	i.finished("team-c")
	if n := i.left(); n > 0 {
		t.Errorf("%d pools and entities are left at GARM", n)
	}

	i.makeNamespace("team-d")
	i.fleet("team-d")
	i.loseRunner("team-d")
	i.endedWith(operator)
	i.deleteNamespace("team-d")
	i.waitsForFinalizers("team-d")
	i.takeFinalizersOff("team-d")
	i.finished("team-d")
}

// OP-57: a role of one namespace and a watch of all, or of another, ends at start with an error that names both ways out.
func TestOP57RoleAndWatchDiffer(t *testing.T) {
	t.Parallel()
	i := setup(t, stack.Options{})
	i.install(kustomize(t, manifests.Overlay{Resources: []string{"default"}}), i.variables(""))
	config := i.config()
	for watch, want := range map[string][]string{
		"":       {"all namespaces", "--operator-watch-namespace=", "ClusterRole garm-operator-manager-role", "config/components/all-namespaces", "pools.garm-operator"},
		"team-x": {"namespace team-x", "Role garm-operator-manager-role", "config/rbac/namespace", "--operator-watch-namespace"},
	} {
		config.Operator.WatchNamespace = watch
		err := i.run(config).wait()
		var denied *access.DeniedError
		if !errors.As(err, &denied) {
			t.Fatalf("the operator ended with %v", err)
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
	}
}
