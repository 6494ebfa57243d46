package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// matches says whether a pool with these tags can serve a job that asks for labels: each label has to be among the tags,
// letter case aside. A job that asks for nothing matches nothing.
func matches(tags, labels []string) bool {
	if len(labels) == 0 {
		return false
	}
	for _, label := range labels {
		if !slices.ContainsFunc(tags, func(tag string) bool { return strings.EqualFold(tag, label) }) {
			return false
		}
	}
	return true
}

// MatchingPools returns the enabled pools that can serve a job that asks for labels, the highest priority first.
func MatchingPools(pools []model.Pool, labels []string) []model.Pool {
	var out []model.Pool
	for _, p := range pools {
		if p.Enabled && matches(p.TagNames(), labels) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b model.Pool) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}
