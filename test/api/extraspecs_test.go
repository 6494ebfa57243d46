package api_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
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
	spec := definitions(f)["Pool"].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	rules := spec.Properties["extraSpecs"].XValidations
	if len(rules) != 1 {
		f.Fatalf("%d rules, want 1", len(rules))
	}
	_, expression, before := strings.Cut(rules[0].Rule, "matches(r'")
	expression, _, after := strings.Cut(expression, "')")
	if !before || !after {
		f.Fatalf("no expression in %s", rules[0].Rule)
	}
	return regexp.MustCompile(expression)
}
