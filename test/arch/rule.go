package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Rule says what some packages of this module may import. Packages are named by patterns: "./garm" is one package,
// "./garm/..." also those below it, "*test" every package of this module whose name ends so, and "std" the standard library.
type Rule struct {
	Why    string   // completes "..., but <package> must not, because"
	From   []string // the packages that the rule is about
	Except []string // of these not
	Allow  []string // when set, files may import nothing else
	Deny   []string // must not be reached, not even through other packages of this module
	Direct bool     // Deny is about the package's own imports only
	Tests  bool     // Deny is also about the own imports of test files
}

// Check returns one message for every package that breaks the rule, with the chain of imports that does.
func (r Rule) Check(graph Graph) []string {
	var broken []string
	for _, path := range graph.paths() {
		if !matchAny(r.From, path) || matchAny(r.Except, path) {
			continue
		}
		for _, chain := range r.violations(graph, graph[path]) {
			broken = append(broken, fmt.Sprintf("%s: %s", strings.Join(chain, " → "), r.Why))
		}
	}
	return broken
}

func (r Rule) violations(graph Graph, of Package) [][]string {
	var chains [][]string
	direct := func(imports []string, wrong func(string) bool) {
		for _, imported := range imports {
			if wrong(imported) {
				chains = append(chains, []string{of.Path, imported})
			}
		}
	}
	denied := func(path string) bool { return matchAny(r.Deny, path) }
	if len(r.Allow) > 0 {
		direct(of.Imports, func(path string) bool { return !matchAny(r.Allow, path) })
	}
	if r.Direct {
		direct(of.Imports, denied)
	} else if chain := graph.chain(of.Path, denied); chain != nil {
		chains = append(chains, chain)
	}
	if r.Tests {
		direct(of.TestImports, denied)
	}
	return chains
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return match(pattern, path) })
}

func match(pattern, imported string) bool {
	own := imported == "." || strings.HasPrefix(imported, "./")
	if pattern == "std" {
		first, _, _ := strings.Cut(imported, "/")
		return !own && !strings.Contains(first, ".")
	}
	if suffix, isSuffix := strings.CutPrefix(pattern, "*"); isSuffix {
		return own && strings.HasSuffix(path.Base(imported), suffix)
	}
	if root, isTree := strings.CutSuffix(pattern, "/..."); isTree {
		return imported == root || strings.HasPrefix(imported, root+"/")
	}
	return imported == pattern
}

// siblings makes one rule for each package below root: it must not reach the others.
func siblings(graph Graph, root, why string) []Rule {
	var members []string
	for _, path := range graph.paths() {
		rest, below := strings.CutPrefix(path, root+"/")
		if !below {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		if member := root + "/" + name; !slices.Contains(members, member) {
			members = append(members, member)
		}
	}
	var rules []Rule
	for _, member := range members {
		var others []string
		for _, other := range members {
			if other != member {
				others = append(others, other+"/...")
			}
		}
		rules = append(rules, Rule{Why: why, From: []string{member + "/..."}, Deny: others, Tests: true})
	}
	return rules
}
