package admission_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// OP-16, OP-17: a second Pool that does the same as another is refused and told which; any difference lets it in.
func TestOP16OP17EqualPools(t *testing.T) {
	serving(t)
	ns := namespace(t)
	create(t, pool(ns, "first"))
	second := pool(ns, "second")
	for name, options := range map[string][]client.CreateOption{"dry-run": {client.DryRunAll}, "create": nil} {
		err := kube.Create(t.Context(), second.DeepCopy(), options...)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `"first"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*v1beta1.PoolSpec){
		"tags":   func(s *v1beta1.PoolSpec) { s.Tags = []string{"linux", "large"} },
		"prefix": func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "ci" },
		"size":   func(s *v1beta1.PoolSpec) { s.MaxRunners = 5 },
		"scope":  func(s *v1beta1.PoolSpec) { s.GitHubScopeRef.Name = "other-org" },
		"extra":  func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{"a": 1}` },
		"image":  func(s *v1beta1.PoolSpec) { s.ImageName = "ubuntu-2" },
	} {
		if err := kube.Create(t.Context(), pool(ns, name, change)); err != nil {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	create(t, pool(namespace(t), "first"))
}
