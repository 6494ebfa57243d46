package fleet

import (
	"slices"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// order says in which order pools, sorted by priority, are tried for a job. pack fills the first before it goes on;
// roundrobin starts at cursor, which the caller moves on with each job.
func order(balancer model.Balancer, pools []model.Pool, cursor int) []model.Pool {
	if balancer == model.BalancePack || len(pools) == 0 {
		return pools
	}
	start := cursor % len(pools)
	return slices.Concat(pools[start:], pools[:start])
}
