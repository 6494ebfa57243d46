package admission_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// OP-30: while the operator is down, everything can be deleted, every finalizer be removed and nearly everything be edited. What
// only the operator can judge waits: new Pools, and other extraSpecs.
func TestOP30OperatorDown(t *testing.T) {
	r := serving(t)
	ns := namespace(t)
	used, user := image(ns, "ubuntu"), pool(ns, "user")
	user.Finalizers = []string{v1beta1.FinalizerPool}
	repository := &v1beta1.Repository{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "repository"}, Spec: v1beta1.RepositorySpec{
		Owner: "octo-org", CredentialsRef: v1beta1.TypedLocalObjectReference{Kind: "GitHubCredential", Name: "bot"},
		WebhookSecretRef: v1beta1.SecretRef{Name: "secret", Key: "key"},
	}}
	create(t, used, user, repository, pool(ns, "other", func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "other" }))
	r.stop()

	if err := kube.Create(t.Context(), pool(ns, "new", func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "new" })); !apierrors.IsInternalError(err) {
		t.Errorf("a new Pool: %v", err)
	}
	for name, change := range map[string]func(*v1beta1.Pool){
		"a label":   func(p *v1beta1.Pool) { p.Labels = map[string]string{"a": "b"} },
		"a flavor":  func(p *v1beta1.Pool) { p.Spec.Flavor = "large" },
		"the sizes": func(p *v1beta1.Pool) { p.Spec.MaxRunners, p.Spec.MinIdleRunners = 9, 3 },
	} {
		if err := edit(t, user, change); err != nil {
			t.Errorf("edit %s: %v", name, err)
		}
	}
	if err := edit(t, user, func(p *v1beta1.Pool) { p.Spec.ExtraSpecs = "{}" }); !apierrors.IsInternalError(err) {
		t.Errorf("other extraSpecs: %v", err)
	}
	if err := edit(t, repository, func(r *v1beta1.Repository) { r.Labels = map[string]string{"a": "b"} }); err != nil {
		t.Errorf("edit the Repository: %v", err)
	}
	if err := kube.Delete(t.Context(), used); err != nil {
		t.Errorf("delete an Image that is used: %v", err)
	}
	if err := kube.Delete(t.Context(), user); err != nil {
		t.Errorf("delete a Pool: %v", err)
	}
	if err := edit(t, user, func(p *v1beta1.Pool) { p.Finalizers = nil }); err != nil {
		t.Errorf("remove the finalizer: %v", err)
	}
	// What the controller of namespaces does with one that is deleted.
	for _, all := range []client.Object{&v1beta1.Image{}, &v1beta1.Pool{}, &v1beta1.Repository{}} {
		if err := kube.DeleteAllOf(t.Context(), all, client.InNamespace(ns)); err != nil {
			t.Errorf("delete every %T: %v", all, err)
		}
	}
	eventually(t, func(ctx context.Context) error { return empty(ctx, ns) })
}
