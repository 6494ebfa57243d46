package v1alpha1_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	webhookconversion "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/garm-operator/garm-operator/api/v1alpha1"
	"github.com/garm-operator/garm-operator/api/v1beta1"
)

type hub interface {
	conversion.Hub
	metav1.Object
}

type spoke interface {
	conversion.Convertible
	metav1.Object
}

// kind makes empty objects of both versions.
type kind struct {
	hub   func() hub
	spoke func() spoke
}

var kinds = map[string]kind{
	v1beta1.KindEnterprise:   {func() hub { return &v1beta1.Enterprise{} }, func() spoke { return &v1alpha1.Enterprise{} }},
	v1beta1.KindOrganization: {func() hub { return &v1beta1.Organization{} }, func() spoke { return &v1alpha1.Organization{} }},
	v1beta1.KindRepository:   {func() hub { return &v1beta1.Repository{} }, func() spoke { return &v1alpha1.Repository{} }},
	v1beta1.KindPool:         {func() hub { return &v1beta1.Pool{} }, func() spoke { return &v1alpha1.Pool{} }},
	v1beta1.KindImage:        {func() hub { return &v1beta1.Image{} }, func() spoke { return &v1alpha1.Image{} }},
	v1beta1.KindRunner:       {func() hub { return &v1beta1.Runner{} }, func() spoke { return &v1alpha1.Runner{} }},
}

// check runs a property for each kind.
func check(t *testing.T, property func(*rapid.T, kind)) {
	t.Helper()
	for name, k := range kinds {
		t.Run("OP-60 "+name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { property(t, k) })
		})
	}
}

func (k kind) drawHub(t *rapid.T) hub {
	object := k.hub()
	draw(t, reflect.ValueOf(object).Elem())
	setMeta(object, drawMeta(t))
	return object
}

func (k kind) drawSpoke(t *rapid.T) spoke {
	object := k.spoke()
	draw(t, reflect.ValueOf(object).Elem())
	setMeta(object, drawMeta(t))
	return object
}

func setMeta(object any, meta metav1.ObjectMeta) {
	reflect.ValueOf(object).Elem().FieldByName("ObjectMeta").Set(reflect.ValueOf(meta))
}

func (k kind) down(t rapid.TB, from hub) spoke {
	to := k.spoke()
	if err := to.ConvertFrom(from); err != nil {
		t.Fatal(err)
	}
	return to
}

func (k kind) up(t rapid.TB, from spoke) hub {
	to := k.hub()
	if err := from.ConvertTo(to); err != nil {
		t.Fatal(err)
	}
	if _, shown := to.GetAnnotations()[v1alpha1.AnnotationConversionData]; shown {
		t.Fatal("the hub shows the annotation")
	}
	return to
}

// stored is an object as the API server stores it: numbers as written, nothing that JSON leaves out.
func stored(t rapid.TB, object any) map[string]any {
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(content)))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func equal(t rapid.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(stored(t, want), stored(t, got)); diff != "" {
		t.Fatalf("%s:\n%s", what, diff)
	}
}

// withoutData returns a copy without the annotation.
func withoutData(object spoke) spoke {
	object = object.DeepCopyObject().(spoke)
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, v1alpha1.AnnotationConversionData)
	object.SetAnnotations(annotations)
	return object
}

func TestHubSurvivesV1alpha1(t *testing.T) {
	check(t, func(t *rapid.T, k kind) {
		want := k.drawHub(t)
		equal(t, "v1beta1 to v1alpha1 and back", want, k.up(t, k.down(t, want)))
	})
}

func TestV1alpha1SurvivesHub(t *testing.T) {
	check(t, func(t *rapid.T, k kind) {
		want := k.drawSpoke(t)
		got := k.down(t, k.up(t, want))
		equal(t, "v1alpha1 to v1beta1 and back, which needs no annotation", want, got)
	})
}

// What is edited in v1alpha1 counts, and what v1alpha1 does not show stays.
func TestEditsInV1alpha1Win(t *testing.T) {
	check(t, func(t *rapid.T, k kind) {
		before := k.drawHub(t)
		shown := k.down(t, before)
		edited := k.drawSpoke(t)
		meta := metav1.ObjectMeta{Name: "name", UID: before.GetUID(), Annotations: shown.GetAnnotations()}
		setMeta(edited, meta)

		after := k.up(t, edited)
		equal(t, "what v1alpha1 says", withoutData(edited), withoutData(k.down(t, after)))

		was, is := stored(t, before), stored(t, after)
		for _, name := range []string{"Spec", "Status"} {
			for _, field := range hubOnly(k, name) {
				old, now := inside(was, name)[field], inside(is, name)[field]
				if diff := cmp.Diff(old, now); diff != "" {
					t.Fatalf("%s.%s is not kept:\n%s", name, field, diff)
				}
			}
		}
	})
}

// hubOnly returns the fields, by their JSON names, that only v1beta1 has in spec or status.
func hubOnly(k kind, part string) []string {
	names := func(object any) map[string]bool {
		field, _ := reflect.TypeOf(object).Elem().FieldByName(part)
		found := map[string]bool{}
		for i := range field.Type.NumField() {
			name, _, _ := strings.Cut(field.Type.Field(i).Tag.Get("json"), ",")
			found[name] = true
		}
		return found
	}
	old := names(k.spoke())
	var only []string
	for name := range names(k.hub()) {
		if !old[name] && name != "credentialsRef" { // of which v1alpha1 says the name
			only = append(only, name)
		}
	}
	return only
}

func inside(object map[string]any, part string) map[string]any {
	fields, _ := object[strings.ToLower(part)].(map[string]any)
	return fields
}

// A manifest that was read in v1alpha1 and is applied under another name brings its spec, not another object's status.
func TestCopiedStatusDoesNotCount(t *testing.T) {
	from := &v1beta1.Organization{
		ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u1"},
		Spec:       v1beta1.OrganizationSpec{PoolBalancerType: v1beta1.PoolBalancerTypePack},
		Status:     v1beta1.EntityStatus{ControllerID: "c", ObservedGeneration: 7},
	}
	shown := &v1alpha1.Organization{}
	if err := shown.ConvertFrom(from); err != nil {
		t.Fatal(err)
	}
	shown.Name, shown.UID = "b", "u2"
	to := &v1beta1.Organization{}
	if err := shown.ConvertTo(to); err != nil {
		t.Fatal(err)
	}
	if to.Spec.PoolBalancerType != v1beta1.PoolBalancerTypePack {
		t.Error("the spec of the manifest is lost")
	}
	if diff := cmp.Diff(v1beta1.EntityStatus{}, to.Status); diff != "" {
		t.Errorf("the status came with it:\n%s", diff)
	}
}

func TestCredentialsName(t *testing.T) {
	from := &v1alpha1.Repository{Spec: v1alpha1.RepositorySpec{CredentialsName: "github-pat", Owner: "tools"}}
	to := &v1beta1.Repository{}
	if err := from.ConvertTo(to); err != nil {
		t.Fatal(err)
	}
	group := v1beta1.Group
	want := v1beta1.TypedLocalObjectReference{APIGroup: &group, Kind: "GitHubCredential", Name: "github-pat"}
	if diff := cmp.Diff(want, to.Spec.CredentialsRef); diff != "" {
		t.Error(diff)
	}
}

// An object without a spec, which old releases stored, does not get one by being read in the other version.
func TestAbsentStaysAbsent(t *testing.T) {
	for name, k := range kinds {
		from := k.spoke()
		setMeta(from, metav1.ObjectMeta{Name: "bare"})
		fields := stored(t, k.up(t, from))
		for _, part := range []string{"spec", "status"} {
			if content, has := fields[part]; has && !reflect.DeepEqual(content, map[string]any{}) {
				t.Errorf("%s: %s has come into being: %v", name, part, content)
			}
		}
	}
}

// A manifest says that text is empty, as those of the known operator do. It has to come back so, or whoever applies the manifest
// again sees a difference for ever.
func TestOP60EmptyTextIsShown(t *testing.T) {
	manifest := `{
		"enabled": true, "extraSpecs": "", "flavor": "small", "githubRunnerGroup": "", "githubScopeRef": {"apiGroup": "", "kind": "Organization", "name": "tools"},
		"imageName": "kit", "maxRunners": 4, "minIdleRunners": 0, "osArch": "amd64", "osType": "linux", "providerName": "openstack",
		"runnerBootstrapTimeout": 20, "runnerPrefix": "", "tags": ["linux"]
	}`
	from := &v1alpha1.Pool{}
	if err := json.Unmarshal([]byte(manifest), &from.Spec); err != nil {
		t.Fatal(err)
	}
	to := kinds[v1beta1.KindPool]
	equal(t, "the spec that was applied", json.RawMessage(manifest), to.down(t, to.up(t, from)).(*v1alpha1.Pool).Spec)
}

func TestWrongHub(t *testing.T) {
	if err := (&v1alpha1.Pool{}).ConvertTo(&v1beta1.Image{}); err == nil {
		t.Error("a Pool was converted to an Image")
	}
	if err := (&v1alpha1.Pool{}).ConvertFrom(&v1beta1.Image{}); err == nil {
		t.Error("a Pool was converted from an Image")
	}
}

func TestEveryKindIsConvertible(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for name, known := range scheme.KnownTypes(v1alpha1.GroupVersion) {
		if known.PkgPath() == reflect.TypeFor[v1alpha1.Pool]().PkgPath() && !strings.HasSuffix(name, "List") && kinds[name].hub == nil {
			t.Errorf("%s is not tested", name)
		}
	}
	for name, k := range kinds {
		if ok, err := webhookconversion.IsConvertible(scheme, k.hub()); !ok || err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
}

// What both versions have under one name is replaced as a whole when it is a list, so its elements must not differ: a new
// field in them would be lost. Conversion has to be extended first.
func TestListsOfBothVersionsAreEqual(t *testing.T) {
	for name, k := range kinds {
		for _, part := range []string{"Spec", "Status"} {
			old, _ := reflect.TypeOf(k.spoke()).Elem().FieldByName(part)
			now, _ := reflect.TypeOf(k.hub()).Elem().FieldByName(part)
			compareLists(t, name+"."+part, old.Type, now.Type)
		}
	}
}

func compareLists(t *testing.T, path string, old, now reflect.Type) {
	t.Helper()
	if old.Kind() != reflect.Struct || old == now {
		return
	}
	for i := range now.NumField() {
		tag := now.Field(i).Tag.Get("json")
		for j := range old.NumField() {
			if old.Field(j).Tag.Get("json") != tag {
				continue
			}
			oldType, nowType := old.Field(j).Type, now.Field(i).Type
			if nowType.Kind() == reflect.Slice && !oldType.Elem().ConvertibleTo(nowType.Elem()) {
				t.Errorf("%s.%s: elements differ", path, now.Field(i).Name)
			}
			compareLists(t, path+"."+now.Field(i).Name, oldType, nowType)
		}
	}
}
