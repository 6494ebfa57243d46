package replay

import (
	"fmt"
	"maps"
)

// compareLists finds a partner for each recorded element, wherever it stands: first those that agree, then, for what is
// left, the one with the fewest differences.
func (c comparer) compareLists(want, got []any, bound Bindings, at string) []Difference {
	left := make([]int, len(got)) // indices of elements without a partner
	for j := range got {
		left[j] = j
	}
	var unmatched []int
	for i := range want {
		partner := -1
		for place, j := range left {
			trial := maps.Clone(bound)
			if len(c.compare(want[i], got[j], trial, at)) == 0 {
				maps.Copy(bound, trial)
				partner = place
				break
			}
		}
		if partner < 0 {
			unmatched = append(unmatched, i)
			continue
		}
		left = append(left[:partner:partner], left[partner+1:]...)
	}

	var all []Difference
	for _, i := range unmatched {
		place := fmt.Sprintf("%s[%d]", at, i)
		best, fewest, learned := -1, []Difference(nil), Bindings(nil)
		for candidate, j := range left {
			trial := maps.Clone(bound)
			found := c.compare(want[i], got[j], trial, place)
			if best < 0 || len(found) < len(fewest) {
				best, fewest, learned = candidate, found, trial
			}
		}
		if best < 0 {
			all = append(all, Difference{Value, place, "no such element: " + short(want[i])})
			continue
		}
		left = append(left[:best:best], left[best+1:]...)
		all = append(all, fewest...)
		maps.Copy(bound, learned)
	}
	for _, j := range left {
		all = append(all, Difference{Value, at, "one element too many: " + short(got[j])})
	}
	return all
}
