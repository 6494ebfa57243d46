package replay

import (
	"fmt"
	"slices"
	"strings"
)

// Result is what became of one exchange.
type Result struct {
	Exchange    Exchange
	Differences []Difference
}

// Agrees says whether the answer agrees up to a kind: Status looks at the status alone, Shape also at the shape, Value
// at everything.
func (r Result) Agrees(kind Kind) bool {
	counts := map[Kind][]Kind{Status: {Status}, Shape: {Status, Shape}, Value: {Status, Shape, Value}}[kind]
	return !slices.ContainsFunc(r.Differences, func(d Difference) bool { return slices.Contains(counts, d.Kind) })
}

// Report is what became of a conversation.
type Report struct{ Results []Result }

func (r *Report) add(result Result) { r.Results = append(r.Results, result) }

// Only returns the results of the topics named.
func (r *Report) Only(topics ...string) *Report {
	kept := &Report{}
	for _, result := range r.Results {
		if slices.Contains(topics, result.Exchange.group()) {
			kept.add(result)
		}
	}
	return kept
}

// Counts are numbers of exchanges: of all, and of those that agree.
type Counts struct{ Exchanges, Status, Shape, Values int }

func (c *Counts) add(r Result) {
	c.Exchanges++
	for kind, count := range map[Kind]*int{Status: &c.Status, Shape: &c.Shape, Value: &c.Values} {
		if r.Agrees(kind) {
			*count++
		}
	}
}

// Total counts all exchanges.
func (r *Report) Total() Counts {
	var total Counts
	for _, result := range r.Results {
		total.add(result)
	}
	return total
}

// String is a table of the topics in their order, and of the total.
func (r *Report) String() string {
	var names []string
	topics := map[string]*Counts{}
	for _, result := range r.Results {
		name := result.Exchange.group()
		if topics[name] == nil {
			topics[name] = &Counts{}
			names = append(names, name)
		}
		topics[name].add(result)
	}
	total := r.Total()
	topics["total"] = &total
	var table strings.Builder
	fmt.Fprintf(&table, "%-16s %9s %7s %7s %7s\n", "topic", "exchanges", "status", "shape", "values")
	for _, name := range append(names, "total") {
		c := topics[name]
		fmt.Fprintf(&table, "%-16s %9d %7d %7d %7d\n", name, c.Exchanges, c.Status, c.Shape, c.Values)
	}
	return table.String()
}
