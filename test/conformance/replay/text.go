package replay

import (
	"regexp"
	"slices"
	"strings"
)

// matchText says whether a text fits the recorded one. Placeholders that have no value yet get theirs from it.
func matchText(want, got string, bound Bindings) bool {
	want, got = strings.ToValidUTF8(want, "\uFFFD"), strings.ToValidUTF8(got, "\uFFFD") // as the JSON decoder does
	places := placeholder.FindAllStringSubmatchIndex(want, -1)
	if places == nil {
		return want == got
	}
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A`)
	var fresh []string // the placeholder of each group
	rest := 0
	for _, at := range places {
		pattern.WriteString(regexp.QuoteMeta(want[rest:at[0]]))
		rest = at[1]
		name := strings.TrimSuffix(want[at[2]:at[3]], ":int")
		switch value, known := bound[name]; {
		case newest[name] != "":
			pattern.WriteString("(" + newest[name] + ")")
			fresh = append(fresh, name)
		case free[name] != "":
			pattern.WriteString("(?:" + free[name] + ")")
		case known:
			pattern.WriteString(regexp.QuoteMeta(value))
		default:
			pattern.WriteString("(" + formOf(name) + ")")
			fresh = append(fresh, name)
		}
	}
	pattern.WriteString(regexp.QuoteMeta(want[rest:]) + `\z`)
	found := regexp.MustCompile(pattern.String()).FindStringSubmatch(got)
	if found == nil {
		return false
	}
	values := found[1:]
	for i, name := range fresh {
		if first := slices.Index(fresh, name); values[first] != values[i] {
			return false // one placeholder, two values
		}
	}
	for i, name := range fresh {
		bound[name] = values[i]
	}
	return true
}

// formOf is the pattern of what a placeholder without a value may become.
func formOf(name string) string {
	if name == "controller-id" {
		return uuidForm
	}
	if form := numbered[number.ReplaceAllString(name, "")]; form != "" {
		return form
	}
	return ".+?"
}
