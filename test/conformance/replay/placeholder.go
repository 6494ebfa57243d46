package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	uuidForm = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`
	jwtForm  = `[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`
	digits   = `\d+`
)

// forms are the values that a placeholder may stand for.
type forms map[string]string

var (
	// numbered placeholders carry a number: <repo-id-1>.
	numbered = forms{
		"repo-id": uuidForm, "org-id": uuidForm, "enterprise-id": uuidForm, "pool-id": uuidForm, "instance-id": uuidForm,
		"user-id": uuidForm, "tag-id": uuidForm, "uuid": uuidForm, "runner-name": `[^\s"/\\]+`,
		"credentials-id": digits, "gitea-credentials-id": digits, "template-id": digits, "scaleset-id": digits,
		"forge-scaleset-id": digits, "object-id": digits, "hook-id": digits, "job-id": digits, "event-id": digits, "agent-id": digits,
	}
	// newest placeholders are bound again by every answer that shows them.
	newest = forms{"token": jwtForm, "metrics-token": jwtForm}
	// free placeholders are never bound.
	free = forms{
		"time": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`, "jwt": jwtForm,
		"version": `v\d+\.\d+\.\d+\S*`, "hostname": `\S+`, "base64": `[A-Za-z0-9+/]+=*`,
	}
	// given placeholders have their values from the start.
	given = []string{"garm-url", "garm-host", "forge-url", "forge-host", "admin-user", "admin-password", "admin-email", "app-private-key"}

	placeholder = placeholderPattern()
	number      = regexp.MustCompile(`-\d+$`)
)

func placeholderPattern() *regexp.Regexp {
	alternatives := func(names []string) string {
		slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // the longest first
		return strings.Join(names, "|")
	}
	others := slices.Concat(given, slices.Collect(maps.Keys(free)), slices.Collect(maps.Keys(newest)), []string{"controller-id"})
	return regexp.MustCompile(`<((?:` + alternatives(slices.Collect(maps.Keys(numbered))) + `)-\d+(?::int)?|instance-token:runner-name-\d+|` + alternatives(others) + `)>`)
}

// whole says whether text is one placeholder, and which.
func whole(text string) (name string, ok bool) {
	at := placeholder.FindStringSubmatchIndex(text)
	if at == nil || at[0] != 0 || at[1] != len(text) {
		return "", false
	}
	return text[at[2]:at[3]], true
}

// Bindings are the values of placeholders, by name without brackets and without ":int".
type Bindings map[string]string

// UnboundError says that a request needs a value that no answer has shown.
type UnboundError struct {
	// Name is the placeholder, without brackets.
	Name string
	// Err says why, where that is known.
	Err error
}

func (e *UnboundError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("<%s>: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("<%s> was never seen in an answer", e.Name)
}

func (e *UnboundError) Unwrap() error { return e.Err }

// lookup finds the value of a placeholder for a request.
type lookup func(name string) (string, error)

// fillText puts values into a path, a header or the bytes of a body.
func fillText(text string, find lookup) (string, error) {
	return fill(text, placeholder, func(match string) (string, error) { return find(strings.TrimSuffix(match[1:len(match)-1], ":int")) })
}

// inJSON finds placeholders in the text of a JSON document: a whole string that becomes a number, or a part of a string.
var inJSON = regexp.MustCompile(`"<[a-z-]+-\d+:int>"|` + placeholder.String())

// fillJSON puts values into a JSON document and leaves everything else of it, such as the order of keys and the
// spelling of numbers, as it is.
func fillJSON(document json.RawMessage, find lookup) (string, error) {
	return fill(string(document), inJSON, func(match string) (string, error) {
		if match[0] == '"' {
			return find(strings.TrimSuffix(match[2:len(match)-2], ":int"))
		}
		value, err := find(strings.TrimSuffix(match[1:len(match)-1], ":int"))
		if err != nil {
			return "", err
		}
		quoted, err := json.Marshal(value)
		if err != nil {
			return "", err
		}
		return string(quoted[1 : len(quoted)-1]), nil
	})
}

func fill(text string, pattern *regexp.Regexp, value func(match string) (string, error)) (string, error) {
	var failed error
	filled := pattern.ReplaceAllStringFunc(text, func(match string) string {
		v, err := value(match)
		if err != nil && failed == nil {
			failed = err
		}
		return v
	})
	return filled, failed
}
