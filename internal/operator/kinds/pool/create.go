package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// errClaimed cannot happen unless a server gives one id to two pools.
var errClaimed = errors.New("the GARM server gave the new pool the id of another Pool's")

// Create stores the intent, makes the pool and claims it.
func (a *actuator) Create(ctx context.Context) (*garm.Pool, error) {
	p := a.pass
	if err := a.creatable(); err != nil {
		return nil, err
	}
	uid := p.Object.UID
	a.claims.begin(uid)
	defer a.claims.end(uid)
	had, _ := p.View.PoolsOfEntity(a.scope.id)
	ids := make([]string, 0, len(had))
	for i := range had {
		ids = append(ids, had[i].ID)
	}
	began := time.Now()
	plan := intent{
		Time: began.UTC().Round(time.Millisecond), ControllerID: p.ControllerID(), Scope: a.scope.id, Replaces: p.Object.Status.ID,
		Spec: a.want.fingerprint(), Extra: a.want.extraFingerprint(), Had: shortIDs(ids),
	}
	text, err := plan.encode()
	if err != nil {
		return nil, err
	}
	if err := p.Annotate(ctx, map[string]string{v1beta1.AnnotationPoolIntent: text}); err != nil {
		return nil, err
	}
	a.claims.sight(uid, plan.Time, began)
	// A create that has begun is finished even if the process is asked to stop: an answer is cheaper than a search.
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), began.Add(createDeadline))
	defer cancel()

	a.claims.gate.RLock()
	defer a.claims.gate.RUnlock()
	r, err := p.View.Writer().CreatePool(ctx, remote.Scope{Kind: a.scope.kind, ID: a.scope.id}, createParams(p.Object.Spec, a.want))
	if err != nil {
		if !garm.OutcomeUnknown(err) {
			a.claims.fail(uid, plan.Time)
		}
		if garm.IsNotFound(err) {
			err = mirror.Wait(v1beta1.ReasonScopeRefNotReady, "the GARM server does not know the entity of the pool any more", 5*time.Second)
		}
		return nil, err
	}
	if !a.claims.take(uid, p.ControllerID(), r.ID) {
		return nil, errClaimed
	}
	a.seen = r.ID
	a.verified, a.moved = true, true
	return &r, nil
}

// creatable refuses what real servers answer with a bare 500, and runners that could not call back.
func (a *actuator) creatable() error {
	if providers, known := a.pass.View.Providers(); known {
		name := a.pass.Object.Spec.ProviderName
		if !slices.ContainsFunc(providers, func(p garm.Provider) bool { return p.Name == name }) {
			names := make([]string, 0, len(providers))
			for _, p := range providers {
				names = append(names, p.Name)
			}
			return mirror.Wait(v1beta1.ReasonProviderNotFound, fmt.Sprintf("the GARM server has no provider %q; it has: %s", name, strings.Join(names, ", ")), time.Minute)
		}
	}
	info := a.pass.View.Controller()
	for _, u := range []struct{ name, value string }{{"metadata", info.MetadataURL}, {"callback", info.CallbackURL}} {
		if remote.URLMissing(u.value) {
			return mirror.Wait(v1beta1.ReasonControllerURLsMissing, fmt.Sprintf(
				"the %s URL of the GARM server is not set, so runners could not reach it; a GarmServerConfig sets it", u.name), time.Minute)
		}
	}
	return nil
}
