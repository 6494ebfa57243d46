package poolspec_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
)

func spec() v1beta1.PoolSpec {
	return v1beta1.PoolSpec{
		GitHubScopeRef: v1beta1.TypedLocalObjectReference{Kind: "Organization", Name: "octo-org"}, ProviderName: "local", MaxRunners: 4,
		MinIdleRunners: 1, Flavor: "small", OSType: "linux", OSArch: "amd64", Tags: []string{"linux", "Small"}, Enabled: true,
		RunnerBootstrapTimeout: 20, ImageName: "ubuntu", ExtraSpecs: `{"a": [1, {"b": null}]}`,
	}
}

func key(s v1beta1.PoolSpec) string { return poolspec.Key(&v1beta1.Pool{Spec: s}) }

// Every field counts, those that are added later as well.
func TestKeyOfEveryField(t *testing.T) {
	for i := range reflect.TypeFor[v1beta1.PoolSpec]().NumField() {
		changed := spec()
		f := reflect.ValueOf(&changed).Elem().Field(i)
		name := reflect.TypeFor[v1beta1.PoolSpec]().Field(i).Name
		switch f.Kind() {
		case reflect.String:
			if name == "ExtraSpecs" {
				f.SetString(`{"a": [1, {"b": 2}]}`)
			} else {
				f.SetString(f.String() + "x")
			}
		case reflect.Int64:
			f.SetInt(f.Int() + 1)
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.Append(f, reflect.ValueOf("other")))
		case reflect.Struct:
			changed.GitHubScopeRef.Name = "other"
		default:
			t.Fatalf("%s: a field of kind %s is new to this test", name, f.Kind())
		}
		if key(changed) == key(spec()) {
			t.Errorf("%s does not count", name)
		}
	}
}

// What means the same to a server does not count.
func TestKeyOfTheSame(t *testing.T) {
	group := "any.group"
	for name, change := range map[string]func(*v1beta1.PoolSpec){
		"group of the reference": func(s *v1beta1.PoolSpec) { s.GitHubScopeRef.APIGroup = &group },
		"architecture":           func(s *v1beta1.PoolSpec) { s.OSArch = "x86_64" },
		"default prefix":         func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "garm" },
		"default deletion":       func(s *v1beta1.PoolSpec) { s.DeletionPolicy = v1beta1.DeletionPolicyDelete },
		"blanks":                 func(s *v1beta1.PoolSpec) { s.ExtraSpecs = " {\"a\" :[1,{ \"b\": null}] }\n" },
	} {
		changed := spec()
		change(&changed)
		if key(changed) != key(spec()) {
			t.Errorf("%s counts", name)
		}
	}
	none := spec()
	none.ExtraSpecs = ""
	for _, text := range []string{"null", "{}", " { } "} {
		same := none
		same.ExtraSpecs = text
		if key(same) != key(none) {
			t.Errorf("%q is not the same as nothing", text)
		}
	}
}

// Order, case and repetition of tags do not count; another set does.
func TestKeyOfTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}`), 1, 5).Draw(t, "tags")
		same := append(slices.Clone(tags), strings.ToUpper(rapid.SampledFrom(tags).Draw(t, "again")))
		same = rapid.Permutation(same).Draw(t, "order")
		a, b := spec(), spec()
		a.Tags, b.Tags = tags, same
		before := slices.Clone(same)
		if key(a) != key(b) {
			t.Fatalf("%v and %v differ", tags, same)
		}
		if !slices.Equal(before, same) {
			t.Fatal("the tags of the Pool were changed")
		}
		b.Tags = append(b.Tags, "one-more")
		if key(a) == key(b) {
			t.Fatalf("%v and %v are the same", a.Tags, b.Tags)
		}
	})
}
