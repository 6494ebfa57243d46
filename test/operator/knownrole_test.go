package operator_test

import (
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// knownRules are what the manifests of the known operator allow it in its namespace.
func knownRules() []rbacv1.PolicyRule {
	group := []string{v1beta1.Group}
	some := []string{"enterprises", "garmserverconfigs", "githubcredentials", "githubendpoints", "organizations", "repositories", "runners"}
	with := func(suffix string, resources ...string) (all []string) {
		for _, r := range append(resources, some...) {
			all = append(all, r+suffix)
		}
		return all
	}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: group, Resources: with("", "images", "pools"), Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"}},
		{APIGroups: group, Resources: with("/finalizers"), Verbs: []string{"update"}},
		{APIGroups: group, Resources: with("/status", "pools"), Verbs: []string{"get", "patch", "update"}},
		// The role for leader election, which has the events.
		{APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"configmaps", "leases"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
}

// With the role that the known operator has, and nothing more, all kinds are reconciled: who changes the image alone need not
// change the roles.
func TestRoleOfTheKnownOperator(t *testing.T) {
	t.Parallel()
	p := newPark(t)
	e := setup(t, func(o *stack.Options) { o.Provider = p.program })
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "manager-role"}, Rules: knownRules()}
	e.apply(role, &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: e.namespace, Name: "controller-manager"}},
	})
	config, err := clientcmd.LoadFromFile(e.plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo].Impersonate = "system:serviceaccount:" + e.namespace + ":controller-manager"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	out := e.program("--kubeconfig="+path, "--operator-runner-reconciliation")
	_, _, enterprise, _, repository, pool := e.mirrors()
	pool.Spec.MinIdleRunners = 1
	objects := append(e.Base(), enterprise, repository, pool)
	e.apply(objects...)
	e.ready(objects...)
	runner := e.runners(1)[0]
	e.told(pool, "Normal", "Info", "created at the GARM server")
	p.report(e, runner.Status.Name, "idle")
	for i := len(objects) - 1; i >= 0; i-- {
		e.delete(objects[i])
	}
	e.gone(objects...)
	e.gone(&runner)
	for line := range strings.Lines(out.String()) {
		// Whether anything is stored in the old version, it may leave open.
		if strings.Contains(strings.ToLower(line), "forbidden") && !strings.Contains(line, "may not look whether resources are stored in an old version") {
			t.Errorf("the operator was refused something: %s", line)
		}
	}
}
