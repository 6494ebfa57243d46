package admission_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// refusedFor says whether a request was refused because of an equal Pool of a name.
func refusedFor(err error, name string) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), fmt.Sprintf("Pool %q of this namespace has the same spec", name))
}

// A second Pool that does the same as another is refused and told which; any difference lets it in.
func equalPools(t *testing.T) {
	ns := namespace(t)
	create(t, pool(ns, "first"))
	for name, options := range map[string][]client.CreateOption{"dry-run": {client.DryRunAll}, "create": nil} {
		if err := kube.Create(t.Context(), pool(ns, "second"), options...); !refusedFor(err, "first") {
			t.Errorf("%s: %v", name, err)
		}
	}
	same := func(s *v1beta1.PoolSpec) {
		s.Tags, s.OSArch, s.ExtraSpecs, s.RunnerPrefix = []string{"small", "Linux", "small"}, "x86_64", " {} ", "garm"
	}
	if err := kube.Create(t.Context(), pool(ns, "second", same)); !refusedFor(err, "first") {
		t.Errorf("the same in other words: %v", err)
	}
	for name, change := range map[string]func(*v1beta1.PoolSpec){
		"tags":     func(s *v1beta1.PoolSpec) { s.Tags = []string{"linux", "large"} },
		"prefix":   func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "ci" },
		"size":     func(s *v1beta1.PoolSpec) { s.MaxRunners = 5 },
		"scope":    func(s *v1beta1.PoolSpec) { s.GitHubScopeRef.Name = "other-org" },
		"kind":     func(s *v1beta1.PoolSpec) { s.GitHubScopeRef.Kind = "Enterprise" },
		"extra":    func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{"a": 1}` },
		"image":    func(s *v1beta1.PoolSpec) { s.ImageName = "ubuntu-2" },
		"disabled": func(s *v1beta1.PoolSpec) { s.Enabled = false },
	} {
		if err := kube.Create(t.Context(), pool(ns, name, change)); err != nil {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	create(t, pool(namespace(t), "first"))
}

// What kubectl apply --server-side does: the second is refused, the first can be applied as often as one likes.
func applied(t *testing.T) {
	ns := namespace(t)
	apply := func(name string) error {
		p := pool(ns, name)
		p.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(v1beta1.KindPool))
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil {
			t.Fatal(err)
		}
		unstructured.RemoveNestedField(content, "status")
		return kube.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content}), client.FieldOwner("kubectl"))
	}
	for range 2 {
		if err := apply("first"); err != nil {
			t.Fatal(err)
		}
	}
	if err := apply("second"); !refusedFor(err, "first") {
		t.Errorf("the second: %v", err)
	}
}

// A request in the old version is asked about as well, and counts as well.
func oldVersion(t *testing.T) {
	ns := namespace(t)
	old := func(name, extra string) *v1alpha1.Pool {
		return &v1alpha1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: v1alpha1.PoolSpec{
			GitHubScopeRef: v1alpha1.TypedLocalObjectReference{Kind: "Organization", Name: "octo-org"}, ProviderName: "local", ImageName: "ubuntu",
			Flavor: "small", OSType: "linux", OSArch: "amd64", Tags: []string{"linux", "small"}, MaxRunners: 4, RunnerBootstrapTimeout: 20,
			Enabled: true, ExtraSpecs: extra,
		}}
	}
	if err := kube.Create(t.Context(), old("bad", "{bad}")); !apierrors.IsInvalid(err) {
		t.Errorf("bad extraSpecs: %v", err)
	}
	create(t, old("first", ""))
	for name, p := range map[string]client.Object{"the old version": old("second", ""), "the new one": pool(ns, "third")} {
		if err := kube.Create(t.Context(), p); !refusedFor(err, "first") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A Pool that is being deleted does not count, whether it is gone or still waits for its runners; nor does one that was only tried.
func deletedPools(t *testing.T) {
	ns := namespace(t)
	first := pool(ns, "first")
	first.Finalizers = []string{v1beta1.FinalizerPool}
	if err := kube.Create(t.Context(), pool(ns, "tried"), client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	create(t, first)
	if err := kube.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := pool(ns, "second")
	create(t, second)
	if err := kube.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	create(t, pool(ns, "third"))
	if err := kube.Create(t.Context(), pool(ns, "fourth")); !refusedFor(err, "third") {
		t.Errorf("a fourth: %v", err)
	}
}

// No update is refused because of another Pool: not one that makes two equal, nor any of two that are.
func updatedPools(t *testing.T) {
	ns := namespace(t)
	first, second := pool(ns, "first"), pool(ns, "second", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{"a": 1}` })
	create(t, first, second)
	for name, change := range map[string]func(*v1beta1.Pool){
		"become equal": func(p *v1beta1.Pool) { p.Spec.ExtraSpecs = "" },
		"label":        func(p *v1beta1.Pool) { p.Labels = map[string]string{"a": "b"} },
	} {
		if err := edit(t, second, change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A name that the API server draws is no name to tell two Pools apart by.
func generatedNames(t *testing.T) {
	ns := namespace(t)
	first, second := pool(ns, ""), pool(ns, "")
	first.GenerateName, second.GenerateName = "drawn-", "drawn-"
	create(t, first)
	if err := kube.Create(t.Context(), second); !refusedFor(err, first.Name) {
		t.Errorf("the second: %v", err)
	}
}

// Of equal Pools that come at the same time, one is let in and the others are told which.
func equalInParallel(t *testing.T) {
	ns := namespace(t)
	errs := createAtOnce(t, 4, func(i int) *v1beta1.Pool { return pool(ns, fmt.Sprintf("pool-%d", i)) })
	first := ""
	for i, err := range errs {
		if err == nil && first != "" {
			t.Fatalf("both %s and pool-%d were let in", first, i)
		}
		if err == nil {
			first = fmt.Sprintf("pool-%d", i)
		}
	}
	for i, err := range errs {
		if err != nil && !refusedFor(err, first) {
			t.Errorf("pool-%d, while %s was let in: %v", i, first, err)
		}
	}
	if first == "" {
		t.Errorf("none was let in: %v", errs)
	}
}

func differentInParallel(t *testing.T) {
	ns := namespace(t)
	for i, err := range createAtOnce(t, 4, func(i int) *v1beta1.Pool {
		return pool(ns, fmt.Sprintf("pool-%d", i), func(s *v1beta1.PoolSpec) { s.Tags = append(s.Tags, fmt.Sprint(i)) })
	}) {
		if err != nil {
			t.Errorf("pool-%d: %v", i, err)
		}
	}
}

func createAtOnce(t *testing.T, n int, of func(int) *v1beta1.Pool) []error {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = kube.Create(t.Context(), of(i)) })
	}
	all.Wait()
	return errs
}

// extraSpecs that are no JSON, and those that servers cannot store, are refused, on create and when they are changed.
func extraSpecs(t *testing.T) {
	ns := namespace(t)
	there := pool(ns, "there")
	create(t, there)
	for i, c := range []struct {
		text string
		ok   bool
	}{
		{"", true},
		{"{}", true},
		{"null", true},
		{"[1]", true},
		{`"text"`, true},
		{`{"a": {"b": [1, 2.5, null]}}`, true},
		{"7", false},
		{"{bad", false},
		{"{bad}", false},
		{`{"a": 1} {"b": 2}`, false},
		{`{"a": 1,}`, false},
	} {
		name := fmt.Sprintf("pool-%d", i)
		p := pool(ns, name, func(s *v1beta1.PoolSpec) { s.ExtraSpecs, s.RunnerPrefix = c.text, name })
		created := kube.Create(t.Context(), p, client.DryRunAll)
		edited := edit(t, there, func(p *v1beta1.Pool) { p.Spec.ExtraSpecs, p.Spec.RunnerPrefix = c.text, name })
		for what, err := range map[string]error{"created": created, "changed": edited} {
			if c.ok && err != nil {
				t.Errorf("%q %s: %v", c.text, what, err)
			}
			if !c.ok && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.extraSpecs")) {
				t.Errorf("%q %s: %v", c.text, what, err)
			}
		}
	}
}

// A Pool from before the rule can be edited in every other way, mended, and deleted.
func oldPool(t *testing.T, old *v1beta1.Pool) {
	if err := edit(t, old, func(p *v1beta1.Pool) { p.Spec.ExtraSpecs = "{worse}" }); !apierrors.IsInvalid(err) {
		t.Errorf("from bad to bad: %v", err)
	}
	for name, change := range map[string]func(*v1beta1.Pool){
		"label":   func(p *v1beta1.Pool) { p.Labels = map[string]string{"a": "b"} },
		"flavor":  func(p *v1beta1.Pool) { p.Spec.Flavor = "large" },
		"disable": func(p *v1beta1.Pool) { p.Spec.Enabled = false },
	} {
		if err := edit(t, old, change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := kube.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := edit(t, old, func(p *v1beta1.Pool) { p.Finalizers = nil }); err != nil {
		t.Errorf("remove the finalizer: %v", err)
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(old), old); !apierrors.IsNotFound(err) {
		t.Errorf("after its deletion: %v", err)
	}
}

// The scale subresource is not asked about; the rule of the definition holds.
func scaled(t *testing.T) {
	p := pool(namespace(t), "pool")
	create(t, p)
	for replicas, ok := range map[int32]bool{3: true, 4: true, 9: false} {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		err := kube.SubResource("scale").Update(t.Context(), p, client.WithSubResourceBody(scale))
		if ok && err != nil {
			t.Errorf("to %d: %v", replicas, err)
		}
		if !ok && !apierrors.IsInvalid(err) {
			t.Errorf("to %d: %v", replicas, err)
		}
	}
}

func immutable(t *testing.T) {
	p := pool(namespace(t), "pool")
	create(t, p)
	for name, change := range map[string]func(*v1beta1.Pool){
		"provider": func(p *v1beta1.Pool) { p.Spec.ProviderName = "other" },
		"scope":    func(p *v1beta1.Pool) { p.Spec.GitHubScopeRef.Name = "other" },
		"kind":     func(p *v1beta1.Pool) { p.Spec.GitHubScopeRef.Kind = "Repository" },
	} {
		if err := edit(t, p, change); !apierrors.IsInvalid(err) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}
