package pool

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// outdating are the fields whose change makes the runners that exist outdated, for servers that do not count generations.
var outdating = []string{fieldImage, fieldFlavor, fieldOSType, fieldOSArch, fieldGroup, fieldExtra}

// maxNames bounds, in bytes, the names that are kept in an annotation; a resource has room for twice as many.
const maxNames = 128 << 10

// rotation is what is to be done about runners that were made before the last change.
type rotation struct {
	// left says that such runners are there, idle or not.
	left bool
	// next is the one to replace now, if any; waiting says that there will be one.
	next    *garm.Instance
	waiting bool
	// ripe is when time alone makes one that can be replaced; 0 for never.
	ripe time.Duration
}

// asking says what the server can be asked now.
type asking struct {
	// pending says whether the server was just asked to remove a runner, rested whether it can be asked.
	pending, rested func(id string) bool
	// grace is for how long a runner has to be idle, as it may just get the job that it was made for.
	grace time.Duration
	now   time.Time
}

// rotationOf chooses the idle runner to replace next, the one that is idle for longest: one at a time, and only while as
// many are idle as should be, so that a replacement that does not come up ends it. Named are those that are outdated where
// the server does not count generations.
func rotationOf(pool *garm.Pool, instances []garm.Instance, named []string, can asking) rotation {
	var r rotation
	var candidates []garm.Instance
	idle, busy, underway := 0, 0, false
	byName := make(map[string]bool, len(named))
	for _, name := range named {
		byName[name] = true
	}
	for _, i := range instances {
		outdated := i.Generation < pool.Generation || (pool.Generation == 0 && byName[i.Name])
		r.left = r.left || outdated
		switch {
		case leaving(i), can.pending(i.ID):
			underway = underway || outdated
		case i.RunnerStatus == garm.RunnerActive:
			busy++
		case i.RunnerStatus == garm.RunnerIdle && i.Status == garm.InstanceRunning:
			idle++
			if outdated {
				candidates = append(candidates, i)
			}
		}
	}
	r.waiting = len(candidates) > 0
	most := max(int(pool.MaxRunners)-busy, 0)
	if underway || !pool.Enabled || idle < min(int(pool.MinIdleRunners), most) {
		return r
	}
	slices.SortFunc(candidates, func(a, b garm.Instance) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), strings.Compare(a.Name, b.Name))
	})
	for i := range candidates {
		if !can.rested(candidates[i].ID) {
			continue
		}
		// The first has been idle for longest.
		if r.ripe = max(can.grace-idleFor(candidates[i], can.now), 0); r.ripe == 0 {
			r.next = &candidates[i]
		}
		break
	}
	return r
}

func leaving(i garm.Instance) bool {
	switch i.Status {
	case garm.InstancePendingDelete, garm.InstancePendingForceDelete, garm.InstanceDeleting, garm.InstanceDeleted:
		return true
	}
	return false
}

// rotate replaces the outdated runners, one a pass. It returns when to look again; 0 leaves it to events of the runners.
func (a *actuator) rotate(ctx context.Context, pool *garm.Pool, instances []garm.Instance) (time.Duration, error) {
	p := a.pass
	named := outdatedNames(p.Object)
	if !p.Object.Spec.RotateOutdatedRunners && len(named) == 0 {
		return 0, nil
	}
	now := time.Now()
	r := rotationOf(pool, instances, named, asking{
		pending: func(id string) bool { return a.asked.recent(id, now) }, rested: func(id string) bool { return a.asked.rested(id, now) },
		grace: graceOf(a.minIdleAge), now: now,
	})
	if len(named) > 0 && (!r.left || pool.Generation > 0) {
		if err := p.Annotate(ctx, map[string]string{v1beta1.AnnotationOutdatedRunners: ""}); err != nil {
			return 0, err
		}
	}
	if !p.Object.Spec.RotateOutdatedRunners || !r.waiting {
		return 0, nil
	}
	if r.ripe > 0 {
		return min(r.ripe, askAgain), nil
	}
	if r.next == nil || a.managerDown() {
		return askAgain, nil
	}
	if err := a.remove(ctx, *r.next, false, "it was made before the last change of the pool"); err != nil && !refused(err) {
		return 0, err
	}
	return askAgain, nil
}

// outdate records, before fields are changed, which runners the change makes outdated, where the server may not count.
func (a *actuator) outdate(ctx context.Context, pool *garm.Pool, fields []string) error {
	p := a.pass
	if !p.Object.Spec.RotateOutdatedRunners || pool.Generation > 0 || !slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(outdating, f) }) {
		return nil
	}
	instances, synced := p.View.InstancesOfPool(pool.ID)
	if !synced {
		return mirror.Again(time.Second)
	}
	names := joinNames(instances)
	if names == p.Object.Annotations[v1beta1.AnnotationOutdatedRunners] {
		return nil
	}
	return p.Annotate(ctx, map[string]string{v1beta1.AnnotationOutdatedRunners: names})
}

func joinNames(instances []garm.Instance) string {
	var names []string
	size := 0
	for _, i := range instances {
		if size += len(i.Name) + 1; size > maxNames {
			break
		}
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func outdatedNames(pool *v1beta1.Pool) []string {
	if text := pool.Annotations[v1beta1.AnnotationOutdatedRunners]; text != "" {
		return strings.Split(text, ",")
	}
	return nil
}
