package admission

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/poolspec"
)

const (
	// inFlight is how long a Pool that was let through may take until it is stored, before it counts as refused by others.
	inFlight = 2 * time.Second
	// inFlightLook is how often it is looked for meanwhile.
	inFlightLook = 50 * time.Millisecond
)

// pools holds the rules of Pools.
type pools struct {
	lookup
	admitted *admitted
}

// Handle checks a Pool that is created or changed.
func (h *pools) Handle(ctx context.Context, req request) response {
	if req.Operation != admissionv1.Create && req.Operation != admissionv1.Update {
		return webhookadmission.Allowed("")
	}
	pool := &v1beta1.Pool{}
	if err := decode(req.Object, pool); err != nil {
		return undecodable(err)
	}
	pool.Namespace = req.Namespace
	if req.Operation == admissionv1.Update {
		before := &v1beta1.Pool{}
		if err := decode(req.OldObject, before); err != nil {
			return undecodable(err)
		}
		if !pool.DeletionTimestamp.IsZero() || pool.Spec.ExtraSpecs == before.Spec.ExtraSpecs {
			return webhookadmission.Allowed("")
		}
	}
	if _, err := poolspec.ExtraSpecs([]byte(pool.Spec.ExtraSpecs)); err != nil {
		return invalid(pool.Name, field.Invalid(field.NewPath("spec", "extraSpecs"), field.OmitValueType{}, err.Error()))
	}
	if req.Operation == admissionv1.Update || !h.watches(pool.Namespace) {
		return webhookadmission.Allowed("")
	}
	equal, err := h.equal(ctx, pool, req)
	if err != nil {
		return unchecked("whether another Pool is equal", err)
	}
	if equal != nil {
		return invalid(pool.Name, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, fmt.Sprintf(
			"Pool %q of this namespace has the same spec, so both would do the same; change that one, or differ from it, for example in tags, flavor or runnerPrefix",
			equal.Name)))
	}
	return webhookadmission.Allowed("")
}

// equal returns a Pool with the same spec and scope, or nil if this is the first. A request that is no dry run counts as the
// first for those that come while it is on its way into the store.
func (h *pools) equal(ctx context.Context, pool *v1beta1.Pool, req request) (*v1beta1.Pool, error) {
	key := poolspec.Key(pool)
	same := func(p *v1beta1.Pool) bool { return p.Name != pool.Name && poolspec.Key(p) == key }
	found, err := h.find(ctx, pool.Namespace, poolspec.Field, key, same)
	if err == nil && len(found) > 0 {
		found, err = h.findLive(ctx, pool.Namespace, same) // the cache may show one that has just gone
	}
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return &found[0], nil
	}
	entry, me := entryOf(pool.Namespace, key), admission{uid: req.UID, name: pool.Name}
	for {
		other, ok := h.first(entry, me, req)
		if !ok {
			return nil, nil
		}
		found, err := h.await(ctx, pool.Namespace, same)
		if found != nil || err != nil {
			return found, err
		}
		h.admitted.drop(entry, other)
	}
}

// first returns the request that was let through before this one and whose Pool is not seen yet, if there is one. A dry run takes
// nobody's place.
func (h *pools) first(entry string, me admission, req request) (admission, bool) {
	if req.DryRun != nil && *req.DryRun {
		other, ok := h.admitted.has(entry)
		return other, ok && (other.name != me.name || me.name == "")
	}
	other := h.admitted.take(entry, me, time.Now())
	return other, other != me
}

// seen notes that the cache shows a Pool.
func (h *pools) seen(pool *v1beta1.Pool) {
	h.admitted.seen(entryOf(pool.Namespace, poolspec.Key(pool)), pool.Name)
}

func entryOf(namespace, key string) string { return namespace + "/" + key }

// await waits for a Pool that was let through and is not seen yet; nil if it did not come.
func (h *pools) await(ctx context.Context, namespace string, same func(*v1beta1.Pool) bool) (*v1beta1.Pool, error) {
	tick := time.NewTicker(inFlightLook)
	defer tick.Stop()
	for end := time.Now().Add(inFlight); ; {
		found, err := h.findLive(ctx, namespace, same)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &found[0], nil
		}
		if time.Now().After(end) {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
