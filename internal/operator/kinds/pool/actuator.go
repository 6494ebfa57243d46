package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

type actuator struct {
	*shared
	pass  *mirror.Pass[*v1beta1.Pool]
	want  shape
	scope scope
	// extraKnown says that the extra specs of what is compared are those at the server.
	extraKnown bool
	// verified says that the extra specs are known of the pool as it is now, moved that this was found out, or made so, in
	// this pass.
	verified, moved bool
	// foreign says that the recorded id does not count: earlier operators recorded pools of what only has the entity's name.
	foreign bool
	seen    string
	old     int
}

func (a *actuator) Resolve(ctx context.Context) error {
	scopeErr := a.resolveScope(ctx)
	image, err := a.resolveImage(ctx)
	if scopeErr != nil {
		return scopeErr
	}
	if err != nil {
		return err
	}
	a.want, err = shapeOf(a.pass.Object.Spec, image)
	if err != nil {
		return mirror.Stop(v1beta1.ReasonInvalidSpec, err.Error())
	}
	return nil
}

// Inputs is the tag of the Image.
func (a *actuator) Inputs() string { return a.want.Image }

// Recorded returns the id that this process has claimed or the status holds, unless another controller drew it.
func (a *actuator) Recorded() string {
	if a.foreign {
		return ""
	}
	if id := a.claims.of(a.pass.Object.UID, a.pass.ControllerID()); id != "" {
		return id
	}
	s := a.pass.Object.Status
	if s.ControllerID != "" && s.ControllerID != a.pass.ControllerID() {
		return ""
	}
	return s.ID
}

// Owner says whether an older Pool has the same id, or the same spec where admission would have refused that.
func (a *actuator) Owner(ctx context.Context) error {
	if err := a.equalPool(ctx); err != nil {
		return err
	}
	id := a.Recorded()
	if id == "" {
		return nil
	}
	same, err := a.byID.Referrers(ctx, a.pass.Client, "", id)
	if err != nil {
		return err
	}
	if owner := refs.Oldest(append(same, a.pass.Object)); owner.UID != a.pass.Object.UID {
		return mirror.Stop(v1beta1.ReasonDuplicatePoolFound, fmt.Sprintf("Pool %s/%s comes first and has the same GARM pool, %s", owner.Namespace, owner.Name, id))
	}
	return nil
}

func (a *actuator) Observe(ctx context.Context) (*garm.Pool, error) {
	p := a.pass
	a.seen = a.Recorded()
	if a.seen != "" {
		pool, found, synced := p.View.Pool(a.seen)
		switch {
		case !synced:
			return nil, mirror.Again(time.Second)
		case !found:
		case a.scope.id == "" || ownerOf(&pool) == a.scope.id:
			return &pool, nil
		case p.Object.Status.ControllerID == "" && a.claims.of(p.Object.UID, p.ControllerID()) == "":
			a.foreign = true
		default:
			return nil, a.elsewhere(&pool)
		}
	}
	if id := p.Object.Annotations[v1beta1.AnnotationAdoptPoolID]; id != "" && a.seen == "" && p.Object.DeletionTimestamp.IsZero() {
		return a.adopt(ctx, id)
	}
	if open := intentOf(p.Object, p.ControllerID()); open != nil && a.claims.open(p.Object.UID, open.Time) && a.claims.of(p.Object.UID, p.ControllerID()) == "" {
		pool, err := a.recover(ctx, open)
		if pool != nil {
			a.seen = pool.ID
		}
		return pool, err
	}
	return nil, nil
}

// adopt takes over the pool that the user names.
func (a *actuator) adopt(ctx context.Context, id string) (*garm.Pool, error) {
	p := a.pass
	pool, found, _ := p.View.Pool(id)
	stop := func(format string, args ...any) (*garm.Pool, error) {
		return nil, mirror.Stop(v1beta1.ReasonInvalidSpec, fmt.Sprintf("annotation "+v1beta1.AnnotationAdoptPoolID+": "+format, args...))
	}
	same, err := a.byID.Referrers(ctx, p.Client, "", id)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return stop("the GARM server has no pool %q; remove the annotation to have one created", id)
	case ownerOf(&pool) != a.scope.id:
		return stop("pool %q belongs to another entity than spec.githubScopeRef", id)
	case pool.ProviderName != p.Object.Spec.ProviderName:
		return stop("pool %q has provider %q, which cannot be changed to spec.providerName", id, pool.ProviderName)
	case len(same) > 0 || a.claims.claimed(id, p.Object.UID) || !a.claims.take(p.Object.UID, p.ControllerID(), id):
		return nil, mirror.Stop(v1beta1.ReasonDuplicatePoolFound, fmt.Sprintf("another Pool has the GARM pool %s", id))
	}
	a.seen = id
	return &pool, nil
}

func (a *actuator) Gone(ctx context.Context) (bool, error) {
	if a.seen == "" {
		return true, nil
	}
	gone, err := a.pass.View.ConfirmGone(ctx, remote.KindPool, a.seen)
	if gone {
		a.claims.drop(a.pass.Object.UID)
	}
	return gone, err
}

// Prepare learns the extra specs where the spec, or the pool, has changed since it was last in force, and lists do not tell.
func (a *actuator) Prepare(ctx context.Context, r *garm.Pool) (*garm.Pool, error) {
	extra, known, current := a.pass.View.PoolExtraSpecs(r.ID)
	if known {
		r.ExtraSpecs, a.extraKnown, a.verified = extra, true, current
		return r, nil
	}
	if inForce(a.pass.Object) && !changedSince(a.pass.Object.Status.Revision, r) {
		return r, nil
	}
	full, err := a.pass.View.FetchPool(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	a.extraKnown, a.verified, a.moved = true, true, true
	return &full, nil
}

// inForce says whether the present spec was brought to the server already.
func inForce(p *v1beta1.Pool) bool {
	i := slices.IndexFunc(p.Status.Conditions, func(c conditionType) bool { return c.Type == v1beta1.ConditionReady })
	if i < 0 || p.Status.Conditions[i].ObservedGeneration != p.Generation {
		return false
	}
	ready := p.Status.Conditions[i]
	return ready.Status == "True" || ready.Reason == v1beta1.ReasonPoolManagerFailure
}

func (a *actuator) Diff(r *garm.Pool) []string {
	return diff(a.want, seen(r), a.extraKnown)
}

// Bears accepts tags that the server adds to those that are wanted. They show in the status.
func (a *actuator) Bears(r *garm.Pool, fields []string) bool {
	have := seen(r).Tags
	return slices.Equal(fields, []string{fieldTags}) &&
		!slices.ContainsFunc(a.want.Tags, func(tag string) bool { return !slices.Contains(have, tag) })
}

func (a *actuator) Update(ctx context.Context, r *garm.Pool, fields []string) (*garm.Pool, error) {
	if err := a.outdate(ctx, r, fields); err != nil {
		return nil, err
	}
	updated, err := a.pass.View.Writer().UpdatePool(ctx, r.ID, updateParams(a.pass.Object.Spec, a.want, fields))
	if err != nil {
		return nil, err
	}
	a.verified, a.moved = a.verified || slices.Contains(fields, fieldExtra), true
	if len(updated.ExtraSpecs) > 0 {
		a.extraKnown, a.verified = true, true
	} else {
		a.extraKnown = false // the answer of this server does not show them
	}
	return &updated, nil
}

func (a *actuator) Delete(ctx context.Context, r *garm.Pool) error {
	return a.pass.View.Writer().DeletePool(ctx, r.ID)
}

func (a *actuator) Project(r *garm.Pool) {
	s := &a.pass.Object.Status
	s.ID, s.ControllerID = r.ID, a.pass.ControllerID()
	s.LongRunningIdleRunners = int64(a.old)
	// Generations change with what concerns the runners alone; times with anything, so that they are not followed.
	if a.verified && (a.moved || s.Revision == "" || r.Generation > 0) {
		s.Revision = revision(r)
	}
	tags := make([]string, 0, len(r.Tags))
	for _, t := range r.Tags {
		tags = append(tags, t.Name)
	}
	slices.SortFunc(tags, strings.Compare)
	s.Tags = slices.Compact(tags)
}

// elsewhere stops a Pool whose GARM pool belongs to another entity than the one that it refers to now.
func (a *actuator) elsewhere(r *garm.Pool) error {
	name := r.OrgName
	if r.RepoID != "" {
		name = r.RepoName
	} else if r.EnterpriseID != "" {
		name = r.EnterpriseName
	}
	ref := a.pass.Object.Spec.GitHubScopeRef
	return mirror.Stop(v1beta1.ReasonInvalidSpec, fmt.Sprintf(
		"spec.githubScopeRef: the GARM pool %s belongs to %q (id %s), but %s %q stands for the entity with id %s now, and a pool cannot be moved; "+
			"make %s %q stand for %q again, or delete the Pool and create it anew", r.ID, name, ownerOf(r), ref.Kind, ref.Name, a.scope.id, ref.Kind, ref.Name, name))
}

func ownerOf(p *garm.Pool) string {
	switch {
	case p.RepoID != "":
		return p.RepoID
	case p.OrgID != "":
		return p.OrgID
	default:
		return p.EnterpriseID
	}
}
