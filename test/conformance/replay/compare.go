package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Kind says how bad a difference is.
type Kind string

// The kinds of differences.
const (
	Status Kind = "status"
	Shape  Kind = "shape"
	Value  Kind = "value"
)

// Difference is one place where an answer is not the recorded one.
type Difference struct {
	Kind Kind
	// At is the path in the body, from $.
	At   string
	Text string
}

func (d Difference) String() string { return fmt.Sprintf("%s %s: %s", d.Kind, d.At, d.Text) }

// comparer compares JSON values, as decoded with numbers kept as json.Number.
type comparer struct {
	// strict counts additional keys, and [] where null was recorded, as differences.
	strict bool
	// anyDetails leaves the wording of error details free.
	anyDetails bool
	volatile   []string
}

// urlsRequired marks the one error text that a client compares.
const urlsRequired = "required URLs"

// compare returns what differs and gives placeholders without a value theirs.
func (c comparer) compare(want, got any, bound Bindings, at string) []Difference {
	if text, ok := want.(string); ok && strings.HasSuffix(text, ":int>") {
		if name, ok := whole(text); ok {
			return compareNumber(strings.TrimSuffix(name, ":int"), got, bound, at)
		}
	}
	if list, ok := got.([]any); want == nil && ok && len(list) == 0 && !c.strict {
		return nil
	}
	if kindOf(want) != kindOf(got) {
		return differ(Shape, at, "want %s, got %s", short(want), short(got))
	}
	switch want := want.(type) {
	case map[string]any:
		return c.compareObjects(want, got.(map[string]any), bound, at)
	case []any:
		return c.compareLists(want, got.([]any), bound, at)
	case string:
		if !matchText(want, got.(string), bound) {
			return differ(Value, at, "want %s, got %s", short(want), short(got))
		}
	case json.Number:
		if !sameNumber(want, got.(json.Number)) {
			return differ(Value, at, "want %s, got %s", want, got)
		}
	default: // null and booleans
		if want != got {
			return differ(Value, at, "want %s, got %s", short(want), short(got))
		}
	}
	return nil
}

func compareNumber(name string, got any, bound Bindings, at string) []Difference {
	n, ok := got.(json.Number)
	if !ok {
		return differ(Shape, at, "want a number, got %s", short(got))
	}
	if _, err := strconv.ParseInt(n.String(), 10, 64); err != nil {
		return differ(Shape, at, "want a whole number, got %s", n)
	}
	if value, known := bound[name]; known && value != n.String() {
		return differ(Value, at, "want %s (%s), got %s", value, name, n)
	}
	bound[name] = n.String()
	return nil
}

func (c comparer) compareObjects(want, got map[string]any, bound Bindings, at string) []Difference {
	var all []Difference
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if slices.Contains(c.volatile, key) {
			continue
		}
		value, found := got[key]
		if _, text := value.(string); key == "details" && c.anyDetails && text && !strings.Contains(fmt.Sprint(want[key]), urlsRequired) {
			continue
		}
		if !found {
			all = append(all, Difference{Shape, at + "." + key, "key missing"})
			continue
		}
		all = append(all, c.compare(want[key], value, bound, at+"."+key)...)
	}
	if !c.strict {
		return all
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, recorded := want[key]; !recorded && !slices.Contains(c.volatile, key) {
			all = append(all, Difference{Shape, at + "." + key, "key not in the recording: " + short(got[key])})
		}
	}
	return all
}

func differ(kind Kind, at, format string, args ...any) []Difference {
	return []Difference{{kind, at, fmt.Sprintf(format, args...)}}
}

// kindOf is the JSON type of a value.
func kindOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "text"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

// sameNumber compares by value: 1, 1.0 and 1e0 are one number.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Float).SetString(a.String())
	y, okY := new(big.Float).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

// short shows a value in a difference.
func short(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	text := []rune(string(data))
	if len(text) > 160 {
		return string(text[:157]) + "..."
	}
	return string(text)
}
