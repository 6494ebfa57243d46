package access_test

import (
	"testing"

	"github.com/garm-operator/garm-operator/internal/operator/access"
)

// Rights are told by object, and objects that lack the same together.
func TestDescribe(t *testing.T) {
	right := func(verb, group, resource, name string) access.Right {
		return access.Right{Verb: verb, Group: group, Resource: resource, Name: name}
	}
	for want, rights := range map[string][]access.Right{
		"":                    nil,
		"list pods":           {right("list", "", "pods", "")},
		"get and list pods/a": {right("list", "", "pods", "a"), right("get", "", "pods", "a"), right("get", "", "pods", "a")},
		"get x.g/a, x.g/b":    {right("get", "g", "x", "b"), right("get", "g", "x", "a")},
		"get, list and watch x.g/a; patch y.g/b": {
			right("watch", "g", "x", "a"), right("patch", "g", "y", "b"), right("list", "g", "x", "a"), right("get", "g", "x", "a"),
		},
	} {
		if got := access.Describe(rights); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
