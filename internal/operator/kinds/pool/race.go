package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// raceWindow is how far apart two equal Pools are created at most that came past admission together. Those further apart are
// meant: one of them was there before admission was in force.
const raceWindow = 30 * time.Second

// races remembers, of equal Pools that came past admission together, which one goes on while it has no id yet.
type races struct {
	mu     sync.Mutex
	leader map[string]types.UID
	key    map[types.UID]string
}

func newRaces() *races { return &races{leader: map[string]types.UID{}, key: map[types.UID]string{}} }

// lead returns the Pool that goes on: the one that does already, else the oldest.
func (r *races) lead(key string, me *v1beta1.Pool, rivals []*v1beta1.Pool) *v1beta1.Pool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.key[me.UID] != key {
		r.leave(me.UID)
	}
	all := append(rivals, me)
	for _, p := range all {
		if r.leader[key] == p.UID {
			return p
		}
	}
	first := refs.Oldest(all)
	if first.UID == me.UID {
		r.leader[key], r.key[me.UID] = me.UID, key
	}
	return first
}

// forget is for a Pool that has an id, or is gone.
func (r *races) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave(uid)
}

func (r *races) leave(uid types.UID) {
	if key, ok := r.key[uid]; ok {
		delete(r.key, uid)
		if r.leader[key] == uid { // else another one has followed already
			delete(r.leader, key)
		}
	}
}

// equalPool stops a Pool that has nothing at GARM yet and came past admission together with an equal one that goes first. Where
// admission is not in force, equal Pools get a pool each.
func (a *actuator) equalPool(ctx context.Context) error {
	me := a.pass.Object
	if !a.admission {
		return nil
	}
	if a.begun(me) {
		a.races.forget(me.UID)
		return nil
	}
	key := poolspec.Key(me)
	all, err := a.bySpec.Referrers(ctx, a.pass.Client, me.Namespace, key)
	if err != nil {
		return err
	}
	var rivals []*v1beta1.Pool
	for _, other := range all {
		if other.UID == me.UID || !other.DeletionTimestamp.IsZero() || other.CreationTimestamp.Sub(me.CreationTimestamp.Time).Abs() > raceWindow {
			continue
		}
		if a.begun(other) {
			return equalTo(other)
		}
		rivals = append(rivals, other)
	}
	if first := a.races.lead(me.Namespace+"/"+key, me, rivals); first.UID != me.UID {
		return equalTo(first)
	}
	return nil
}

// begun says whether a Pool has a pool at GARM, or may have.
func (a *actuator) begun(p *v1beta1.Pool) bool {
	return p.Status.ID != "" || p.Annotations[v1beta1.AnnotationAdoptPoolID] != "" || p.Annotations[v1beta1.AnnotationPoolIntent] != "" ||
		a.claims.of(p.UID, a.pass.ControllerID()) != ""
}

func equalTo(other *v1beta1.Pool) error {
	return mirror.Stop(v1beta1.ReasonDuplicatePoolFound, fmt.Sprintf(
		"Pool %q of this namespace has the same spec and came first; delete this one, or change its spec, for example its tags", other.Name))
}
