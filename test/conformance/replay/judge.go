package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// answer is what a server sent. Status 0 is a connection that ended without one.
type answer struct {
	status      int
	contentType string
	text        string
}

// judge compares an answer with the recorded one. It returns the bindings as the answer leaves them; those that it was
// given stay as they are.
func judge(e Exchange, a answer, bound Bindings, options Options) ([]Difference, Bindings) {
	bound = maps.Clone(bound)
	c := comparer{strict: options.Strict, anyDetails: options.AnyDetails, volatile: e.Volatile}
	var all []Difference
	if a.status != e.Status {
		all = differ(Status, "$", "want %d, got %d %s", e.Status, a.status, short(a.text))
	}
	all = append(all, judgeBody(c, e, a.text, bound)...)
	if want, got := mediaType(e.ResponseHeaders["Content-Type"]), mediaType(a.contentType); want != got {
		all = append(all, Difference{Shape, "Content-Type", fmt.Sprintf("want %q, got %q", want, got)})
	}
	return all, bound
}

func judgeBody(c comparer, e Exchange, text string, bound Bindings) []Difference {
	_, want := decode(string(e.ResponseBody))
	if e.ResponseKind == "metrics" {
		return judgeMetrics(want, text)
	}
	kind, got := decode(text)
	if kind != e.ResponseKind {
		return differ(Shape, "$", "want a body of kind %s, got %s: %s", e.ResponseKind, kind, short(text))
	}
	if kind == "empty" {
		return nil
	}
	all := c.compare(want, got, bound, "$")
	if e.ExtraSpecsBytes != nil && kind == "json" {
		if found, ok := extraSpecs(text); !ok || found != *e.ExtraSpecsBytes {
			all = append(all, differ(Value, "$.extra_specs", "want the bytes %s, got %s", *e.ExtraSpecsBytes, found)...)
		}
	}
	return all
}

func judgeMetrics(want any, text string) []Difference {
	have := metricShapes(text)
	var all []Difference
	names, _ := want.([]any)
	for _, name := range names {
		if !have[fmt.Sprint(name)] {
			all = append(all, Difference{Value, "$", "no metric " + fmt.Sprint(name)})
		}
	}
	return all
}

func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return kind
}

// pending says whether differences may go away when the request is repeated: those at the keys that the recording
// waited for, at lists of another length and at the body as a whole.
func pending(e Exchange, found []Difference) bool {
	until := []string{"status", "runner_status", "running"} // what a person waits for between commands
	if e.Poll != nil {
		until = e.Poll.Until
	}
	return slices.ContainsFunc(found, func(d Difference) bool {
		key := d.At[strings.LastIndex(d.At, ".")+1:]
		return d.Kind == Status || until == nil || slices.Contains(until, key) || strings.HasSuffix(d.At, "]") || d.At == "$"
	})
}
