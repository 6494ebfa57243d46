package arch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/test/arch"
)

// imports makes a graph from the imports of each package.
func imports(of map[string][]string) arch.Graph {
	graph := arch.Graph{}
	for path, imported := range of {
		graph[path] = arch.Package{Path: path, Imports: imported}
	}
	return graph
}

func TestRuleCheck(t *testing.T) {
	layered := imports(map[string][]string{
		"./low":      {"fmt", "example.org/library/part"},
		"./mid":      {"./low", "net/http"},
		"./top":      {"./mid"},
		"./top/deep": {"./low"},
		"./topping":  {"./mid"},
	})
	for name, test := range map[string]struct {
		graph arch.Graph
		rule  arch.Rule
		want  []string
	}{
		"nothing wrong": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./low"}, Deny: []string{"./mid", "./top/..."}},
		},
		"no such package": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./absent/..."}, Allow: []string{"std"}, Deny: []string{"./low"}},
		},
		"through others, the chain is shown": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./top"}, Deny: []string{"net/http"}},
			want:  []string{"./top → ./mid → net/http: why"},
		},
		"direct only": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./..."}, Deny: []string{"net/http"}, Direct: true},
			want:  []string{"./mid → net/http: why"},
		},
		"a tree is no prefix, exceptions are left out": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./top/..."}, Except: []string{"./top"}, Deny: []string{"./low"}},
			want:  []string{"./top/deep → ./low: why"},
		},
		"allowed only": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./low"}, Allow: []string{"std"}},
			want:  []string{"./low → example.org/library/part: why"},
		},
		"allowed tree of another module": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./low"}, Allow: []string{"std", "example.org/library/..."}},
		},
		"own packages are not the standard library": {
			graph: layered,
			rule:  arch.Rule{Why: "why", From: []string{"./top"}, Allow: []string{"std"}},
			want:  []string{"./top → ./mid: why"},
		},
		"packages for tests by their name": {
			graph: imports(map[string][]string{"./a": {"./storetest", "net/http/httptest", "./contest/b"}}),
			rule:  arch.Rule{Why: "why", From: []string{"./..."}, Deny: []string{"*test"}},
			want:  []string{"./a → ./storetest: why"},
		},
		"imports in a circle end": {
			graph: imports(map[string][]string{"./a": {"./b"}, "./b": {"./a"}}),
			rule:  arch.Rule{Why: "why", From: []string{"./a"}, Deny: []string{"./c"}},
		},
		"test files, their own imports": {
			graph: arch.Graph{
				"./a": {Path: "./a", TestImports: []string{"./b", "./c"}},
				"./b": {Path: "./b", Imports: []string{"./c"}},
			},
			rule: arch.Rule{Why: "why", From: []string{"./a"}, Deny: []string{"./c"}, Tests: true},
			want: []string{"./a → ./c: why"},
		},
		"test files are free unless the rule says so": {
			graph: arch.Graph{"./a": {Path: "./a", TestImports: []string{"./c"}}},
			rule:  arch.Rule{Why: "why", From: []string{"./a"}, Deny: []string{"./c"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.rule.Check(test.graph)); diff != "" {
				t.Errorf("messages differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRulesCatch breaks each of the module's own rules once and expects it to be seen.
func TestRulesCatch(t *testing.T) {
	for _, edge := range [][2]string{
		{"./garm", "./garm/client"},
		{"./garm", "github.com/google/uuid"},
		{"./garm/provider", "k8s.io/api/core/v1"},
		{"./garm/client", "./internal/server/model"},
		{"./api/v1beta1", "k8s.io/client-go/rest"},
		{"./internal/server/model", "./garm"},
		{"./internal/operator/remote", "./internal/server/model"},
		{"./internal/server/rest", "./internal/operator/remote"},
		{"./internal/server/rest", "./api/v1beta1"},
		{"./internal/operator/mirror", "./internal/operator/kinds/pool"},
		{"./internal/operator/kinds/pool", "./internal/operator/kinds/image"},
		{"./internal/server/fleet", "net/http"},
		{"./internal/server/service", "database/sql"},
		{"./internal/server/fleet", "./internal/server/store/sqlstore"},
		{"./internal/server/fleet", "./garm"},
		{"./internal/k8sprovider/podspec", "./internal/server/model"},
		{"./internal/runner", "./internal/server/model"},
		{"./cmd/garm", "./internal/server/rest"},
		{"./internal/server/rest", "./internal/app/garm"},
		{"./internal/app/garm", "./internal/dev/githubsim"},
		{"./internal/server/rest", "./internal/server/store/storetest"},
	} {
		t.Run(edge[0]+" → "+edge[1], func(t *testing.T) {
			graph := imports(map[string][]string{
				edge[0]:                           {edge[1]},
				"./internal/operator/kinds/image": nil,
			})
			var broken []string
			for _, rule := range arch.Rules(graph) {
				broken = append(broken, rule.Check(graph)...)
			}
			if len(broken) == 0 {
				t.Error("no rule is broken by this import")
			}
		})
	}
}

func TestCheckNames(t *testing.T) {
	graph := imports(map[string][]string{"./internal/util": nil, "./internal/utility": nil, "./garm/common": nil})
	want := []string{
		"./garm/common: name the package after what it does",
		"./internal/util: name the package after what it does",
	}
	if diff := cmp.Diff(want, arch.CheckNames(graph)); diff != "" {
		t.Errorf("messages differ (-want +got):\n%s", diff)
	}
}
