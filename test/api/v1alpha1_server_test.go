package api_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// warnings collects what the API server warns about.
type warnings struct {
	mu   sync.Mutex
	seen []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, text)
}

func TestV1alpha1WarnsThatItIsDeprecated(t *testing.T) {
	c := connect(t)
	seen := &warnings{}
	config := rest.CopyConfig(c.config)
	config.WarningHandler = seen
	warned, err := client.New(config, client.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := warned.List(t.Context(), &v1beta1.PoolList{}, client.InNamespace(c.namespace)); err != nil || len(seen.seen) > 0 {
		t.Errorf("v1beta1: %v, warnings %q", err, seen.seen)
	}
	for kind, list := range map[string]client.ObjectList{
		"Enterprise": &v1alpha1.EnterpriseList{}, "Organization": &v1alpha1.OrganizationList{}, "Repository": &v1alpha1.RepositoryList{},
		"Pool": &v1alpha1.PoolList{}, "Image": &v1alpha1.ImageList{}, "Runner": &v1alpha1.RunnerList{},
	} {
		seen.seen = nil
		if err := warned.List(t.Context(), list, client.InNamespace(c.namespace)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if !slices.ContainsFunc(seen.seen, func(text string) bool { return strings.Contains(text, "use "+v1beta1.GroupVersion.String()+" "+kind) }) {
			t.Errorf("%s: warnings %q", kind, seen.seen)
		}
	}
}

func TestV1alpha1RunnerFieldSelectors(t *testing.T) {
	c := connect(t)
	c.runner(t, "a", "small", "idle", "running")
	c.runner(t, "b", "small", "active", "running")
	c.runner(t, "c", "large", "pending", "creating")
	for text, want := range map[string][]string{
		"status.poolId=small":                       {"a", "b"},
		"status.status=active":                      {"b"},
		"status.instanceStatus=creating":            {"c"},
		"status.poolId=small,status.status!=active": {"a"},
	} {
		t.Run("OP-39 "+text, func(t *testing.T) {
			list := &v1alpha1.RunnerList{}
			if err := c.List(t.Context(), list, client.InNamespace(c.namespace), selector(t, text)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, runner := range list.Items {
				got = append(got, runner.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Nobody converts Runners, and yet a client of v1alpha1 does not take from them what it does not know.
func TestV1alpha1KeepsTheRestOfARunner(t *testing.T) {
	c := connect(t)
	runner := c.runner(t, "kept", "small", "idle", "running")
	runner.Status.ControllerID = "c"
	runner.Status.Conditions = []metav1.Condition{{
		Type: v1beta1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonReconcileSuccess, LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(t.Context(), runner); err != nil {
		t.Fatal(err)
	}
	old := &v1alpha1.Runner{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "kept"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"edited":"yes"}}}`))
	if err := c.Patch(t.Context(), old, patch); err != nil {
		t.Fatal(err)
	}
	typed := &v1alpha1.Runner{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), typed); err != nil {
		t.Fatal(err)
	}
	typed.Labels["edited"] = "twice"
	if err := c.Update(t.Context(), typed); err != nil { // a whole object, of a client that knows v1alpha1 only
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(runner), runner); err != nil {
		t.Fatal(err)
	}
	if runner.Labels["edited"] != "twice" || runner.Status.ControllerID != "c" || len(runner.Status.Conditions) != 1 {
		t.Errorf("OP-60: after edits in v1alpha1: labels %v, status %+v", runner.Labels, runner.Status)
	}
}

// alpha makes a manifest one of v1alpha1.
func alpha(_ *testing.T, object map[string]any) {
	object["apiVersion"] = v1alpha1.GroupVersion.String()
}

func TestV1alpha1Pool(t *testing.T) {
	c := connect(t)
	for name, tc := range map[string]struct {
		edits []edit
		want  string
	}{
		"as it was":          {nil, ""},
		"no minIdleRunners":  {[]edit{without("spec.minIdleRunners")}, ""},
		"loose":              {[]edit{set("spec.osType", "macos"), set("spec.osArch", "i386"), text("spec.flavor", ""), set("spec.tags", "[]")}, ""},
		"other loose ones":   {[]edit{set("spec.maxRunners", "0"), set("spec.runnerBootstrapTimeout", "0"), text("spec.imageName", "")}, ""},
		"no apiGroup":        {[]edit{set("spec.githubScopeRef", "{kind: Organization, name: octo-org}")}, ""},
		"without spec":       {[]edit{without("spec")}, "spec is required"},
		"minimum too high":   {[]edit{set("spec.minIdleRunners", "5")}, "minIdleRunners must not exceed maxRunners"},
		"extraSpecs too big": {[]edit{text("spec.extraSpecs", `"`+strings.Repeat("x", 1<<20)+`"`)}, "spec.extraSpecs: Too long"},
		"bare number":        {[]edit{set("spec.extraSpecs", "'7'")}, "bare number"},
		"scope without pool": {[]edit{set("spec.githubScopeRef.kind", "Team")}, "must be Enterprise, Organization or Repository"},
		"no provider":        {[]edit{without("spec.providerName")}, "spec.providerName: Required"},
	} {
		t.Run(name, func(t *testing.T) {
			object := c.manifest(t, v1beta1.KindPool, "a", append(tc.edits, alpha)...)
			judge(t, object, c.Create(t.Context(), object, client.DryRunAll), tc.want)
		})
	}
	for name, change := range map[string]edit{
		"scope":    set("spec.githubScopeRef.name", "other"),
		"provider": text("spec.providerName", "other"),
	} {
		t.Run("OP-29 another "+name, func(t *testing.T) {
			object := c.manifest(t, v1beta1.KindPool, "fixed-"+name, alpha)
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			change(t, object.Object)
			judge(t, object, c.Update(t.Context(), object, client.DryRunAll), "is immutable")
		})
	}
}

func TestV1alpha1SpecIsRequired(t *testing.T) {
	c := connect(t)
	for _, tc := range []struct {
		kind string
		edit edit
		want string
	}{
		{v1beta1.KindEnterprise, without("spec"), "spec is required"},
		{v1beta1.KindOrganization, without("spec"), "spec is required"},
		{v1beta1.KindRepository, without("spec"), "spec is required"},
		{v1beta1.KindImage, without("spec"), "spec.tag is required"},
		{v1beta1.KindImage, without("spec.tag"), "spec.tag is required"},
		{v1beta1.KindImage, text("spec.tag", ""), "spec.tag & chars long"},
	} {
		object := c.manifest(t, tc.kind, "a", tc.edit, alpha)
		judge(t, object, c.Create(t.Context(), object, client.DryRunAll), tc.want)
	}
}

func TestV1alpha1RepositoryOwnerIsFixed(t *testing.T) {
	c := connect(t)
	object := c.manifest(t, v1beta1.KindRepository, "a", alpha, without("spec.credentialsRef"), text("spec.credentialsName", "github"))
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	put(t, object.Object, "github", "spec.credentialsName") // nobody converts here
	put(t, object.Object, "other", "spec.owner")
	judge(t, object, c.Update(t.Context(), object, client.DryRunAll), "owner is immutable")
}

// OP-60: a replace in v1alpha1 that leaves the name out is refused: it would stand for another entity.
func TestV1alpha1NameIsFixed(t *testing.T) {
	c := connect(t)
	for _, kind := range []string{v1beta1.KindEnterprise, v1beta1.KindOrganization, v1beta1.KindRepository} {
		for name, change := range map[string]struct {
			edit edit
			want string
		}{
			"removed":         {without("spec.name"), "spec.name is immutable"},
			"another":         {text("spec.name", "other"), "spec.name is immutable"},
			"of two words":    {text("spec.name", "octo org"), "spec.name & should match"},
			"empty":           {text("spec.name", ""), "spec.name & chars long"},
			"too long":        {text("spec.name", strings.Repeat("a", 101)), "spec.name & may not be more than"},
			"in another case": {text("spec.name", "octo_org"), ""},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				object := c.manifest(t, kind, "", alpha, without("spec.credentialsRef"), text("spec.credentialsName", "github"), text("spec.name", "Octo_Org"))
				object.SetGenerateName("named-")
				if err := c.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
				put(t, object.Object, "github", "spec.credentialsName") // nobody converts here
				change.edit(t, object.Object)
				judge(t, object, c.Update(t.Context(), object, client.DryRunAll), change.want)
			})
		}
	}
}
