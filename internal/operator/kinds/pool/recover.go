package pool

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// recover finds out what came of an open intent: the pool that it created, or nil if it created none.
func (a *actuator) recover(ctx context.Context, open *intent) (*garm.Pool, error) {
	uid := a.pass.Object.UID
	settled := settles(a.claims.sight(uid, open.Time, time.Now()))
	if rest := time.Until(settled); rest > 0 {
		return nil, mirror.Again(rest)
	}
	a.claims.gate.Lock()
	defer a.claims.gate.Unlock()
	view := a.pass.View
	if err := view.Relist(ctx, remote.KindPool, settled); err != nil {
		return nil, err
	}
	pools, err := a.livePools(ctx)
	if err != nil {
		return nil, err
	}
	var claimants []claimant
	for i := range pools {
		p := &pools[i]
		other := intentOf(p, a.pass.ControllerID())
		if other == nil || !sameTarget(*other, *open) {
			continue
		}
		if p.UID == uid || (a.claims.of(p.UID, a.pass.ControllerID()) == "" && a.claims.open(p.UID, other.Time)) {
			claimants = append(claimants, claimant{uid: string(p.UID), intent: *other})
		}
	}
	orphans, err := a.orphans(ctx, open, pools, claimants)
	if err != nil {
		return nil, err
	}
	id, ok := assign(claimants, orphans)[string(uid)]
	if !ok || !a.claims.take(uid, a.pass.ControllerID(), id) {
		a.claims.fail(uid, open.Time)
		return nil, nil
	}
	pool, found, _ := view.Pool(id)
	if !found {
		return nil, mirror.Again(time.Second)
	}
	a.pass.Log.Info("took over the GARM pool that an interrupted create had made", "id", id)
	return &pool, nil
}

func sameTarget(a, b intent) bool {
	return a.Scope == b.Scope && a.Spec == b.Spec && a.Extra == b.Extra
}

// livePools reads the Pools from the API server: what an earlier process has recorded must not be missed.
func (a *actuator) livePools(ctx context.Context) ([]v1beta1.Pool, error) {
	namespaces := a.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var all []v1beta1.Pool
	for _, ns := range namespaces {
		var list v1beta1.PoolList
		if err := a.pass.Live.List(ctx, &list, client.InNamespace(ns)); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// orphans returns the pools of the scope that look like what the intent was about, were not there before, and belong to no
// Pool. Lists do not show extra specs, so those that are left are read one by one.
func (a *actuator) orphans(ctx context.Context, open *intent, pools []v1beta1.Pool, claimants []claimant) ([]string, error) {
	view := a.pass.View
	owned := map[string]bool{}
	for i := range pools {
		if pools[i].Status.ID != "" {
			owned[pools[i].Status.ID] = true
		}
	}
	listed, _ := view.PoolsOfEntity(open.Scope)
	var orphans []string
	for i := range listed {
		p := listed[i]
		if owned[p.ID] || a.claims.claimed(p.ID, a.pass.Object.UID) || seen(&p).fingerprint() != open.Spec {
			continue
		}
		if !slices.ContainsFunc(claimants, func(c claimant) bool { return !c.intent.had(p.ID) }) {
			continue
		}
		extra, known, current := view.PoolExtraSpecs(p.ID)
		if p.ExtraSpecs = extra; !known || !current {
			full, err := view.FetchPool(ctx, p.ID)
			if garm.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			p = full
		}
		if seen(&p).extraFingerprint() == open.Extra {
			orphans = append(orphans, p.ID)
		}
	}
	return orphans, nil
}
