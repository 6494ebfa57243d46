package crd_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/config/crd"
)

// FuzzExtraSpecsRule checks the expression of the extraSpecs rule, which CEL runs with the same engine, against a JSON parser:
// it may let broken JSON through, which is caught later, but never refuses JSON other than a number, and never takes a number.
func FuzzExtraSpecsRule(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `"x"`, `null`, `true`, `7`, "\t{\"a\": [1]}\r\n", `-1e3`, `{bad`, ` 1 `, "\u00a07", `"`} {
		f.Add(seed)
	}
	expression := extraSpecsExpression(f)
	f.Fuzz(func(t *testing.T, text string) {
		accepted := expression.MatchString(text)
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		if _, number := value.(float64); number == accepted {
			t.Errorf("%q: number %t, accepted %t", text, number, accepted)
		}
	})
}

// extraSpecsExpression returns the regular expression within the rule of the generated definition.
func extraSpecsExpression(f *testing.F) *regexp.Regexp {
	f.Helper()
	content, err := crd.Bases.ReadFile("bases/garm-operator.mercedes-benz.com_pools.yaml")
	if err != nil {
		f.Fatal(err)
	}
	var definition any
	if err := yaml.Unmarshal(content, &definition); err != nil {
		f.Fatal(err)
	}
	for _, rule := range rules(definition) {
		_, expression, found := strings.Cut(rule, "matches(r'")
		expression, _, closed := strings.Cut(expression, "')")
		if found && closed {
			return regexp.MustCompile(expression)
		}
	}
	f.Fatal("no rule of a Pool matches an expression")
	return nil
}

// rules returns the CEL rules at any depth of a definition.
func rules(node any) []string {
	var found []string
	switch node := node.(type) {
	case map[string]any:
		if rule, ok := node["rule"].(string); ok {
			found = append(found, rule)
		}
		for _, child := range node {
			found = append(found, rules(child)...)
		}
	case []any:
		for _, child := range node {
			found = append(found, rules(child)...)
		}
	}
	return found
}
