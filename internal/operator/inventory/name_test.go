package inventory

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

func TestObjectName(t *testing.T) {
	for name, test := range map[string]struct{ instance, want string }{
		"as it is":               {"garm-abc123", "garm-abc123"},
		"letter case goes":       {"garm-AbC123", "garm-abc123"},
		"dots are fine":          {"a.b", "a.b"},
		"an underscore is not":   {"my_prefix-x", "my-prefix-x-4a613c06"},
		"nothing that could be":  {"___", "runner-"},
		"ends with what may not": {"runner-", "runner-"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ObjectName(test.instance); !strings.HasPrefix(got, test.want) {
				t.Errorf("ObjectName(%q) = %q, want %q", test.instance, got, test.want)
			}
		})
	}
}

func FuzzObjectName(f *testing.F) {
	for _, seed := range []string{"", "garm-x", "my_prefix-X", "-", strings.Repeat("a_", 300), strings.Repeat("a", 254), "ä.ö", "a..b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, instance string) {
		name := ObjectName(instance)
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			t.Errorf("ObjectName(%q) = %q: %v", instance, name, wrong)
		}
		if again := ObjectName(name); again != name {
			t.Errorf("the name %q of an object would become %q", name, again)
		}
	})
}

func TestObjectNamesStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[a-z0-9_.-]{1,12}`)
		a, b := part.Draw(t, "a"), part.Draw(t, "b")
		if a != b && ObjectName(a) == ObjectName(b) {
			t.Errorf("%q and %q are both shown as %q", a, b, ObjectName(a))
		}
	})
}
