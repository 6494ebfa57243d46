package remote

import (
	"context"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// sweepTick is the least time between two GETs of a sweep.
const sweepTick = time.Minute

// sweep GETs pools one by one, because lists do not show their extra specs: at the next tick one that has changed since
// its extra specs were seen; else, spread over the sweep period, one whose extra specs were never seen, or the one that
// was seen longest ago where the server does not say when a pool changed.
func (s *Session) sweep(ctx context.Context, view *View) {
	seen := map[string]time.Time{}
	last := time.Now()
	for {
		wait(ctx, sweepTick, nil)
		if ctx.Err() != nil {
			return
		}
		pools, synced := view.Pools()
		if !synced || len(pools) == 0 {
			continue
		}
		now := time.Now()
		due := now.Sub(last) >= max(sweepTick, s.opts.SweepPeriod/time.Duration(len(pools)))
		id := nextToSweep(pools, view.cache.pools.details, seen, now.Add(-s.opts.SweepPeriod), due)
		if id == "" || s.budget.take(now) > 0 {
			continue
		}
		last = now
		forget(seen, pools)
		seen[id] = now
		_, err := view.FetchPool(ctx, id)
		if garm.IsNotFound(err) {
			view.cache.pools.refresh.markDirty(false)
		}
	}
}

// nextToSweep chooses a pool; due says whether the sweep may go on, before is when those seen last are due again.
func nextToSweep(pools []garm.Pool, details func(string) (known, current bool), seen map[string]time.Time, before time.Time, due bool) string {
	changed, oldest := "", ""
	for _, p := range pools {
		known, current := details(p.ID)
		at := seen[p.ID]
		switch {
		case known && !current:
			if changed == "" || at.Before(seen[changed]) {
				changed = p.ID
			}
		case !due, known && !p.UpdatedAt.IsZero(), known && at.After(before):
		case oldest == "" || at.Before(seen[oldest]):
			oldest = p.ID
		}
	}
	if changed != "" {
		return changed
	}
	return oldest
}

// forget drops what was seen of pools that are gone.
func forget(seen map[string]time.Time, pools []garm.Pool) {
	if len(seen) <= 2*len(pools) {
		return
	}
	alive := make(map[string]bool, len(pools))
	for _, p := range pools {
		alive[p.ID] = true
	}
	for id := range seen {
		if !alive[id] {
			delete(seen, id)
		}
	}
}
