package remote

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// FetchPool reads a pool from the server, extra specs included, and refreshes the view with it.
func (v *View) FetchPool(ctx context.Context, id string) (garm.Pool, error) {
	return fetch(ctx, v, v.cache.pools, func(c Client) (garm.Pool, error) { return c.GetPool(ctx, id) })
}

// FetchInstance reads an instance from the server, addresses and status messages included, and refreshes the view.
func (v *View) FetchInstance(ctx context.Context, name string) (garm.Instance, error) {
	return fetch(ctx, v, v.cache.instances, func(c Client) (garm.Instance, error) { return c.GetInstance(ctx, name) })
}

// ConfirmGone asks the server whether the object with a recorded id is gone: only a 404 says so. Any other failure
// means that nothing is known, and comes back as an error. Ids are spelt as in notices.
func (v *View) ConfirmGone(ctx context.Context, kind Kind, id string) (bool, error) {
	var err error
	switch kind {
	case KindEndpoint:
		err = confirm(ctx, v, v.cache.endpoints, EndpointKey(id), func(c Client) (garm.Endpoint, error) {
			return c.GetEndpoint(ctx, id)
		})
	case KindCredentials:
		n, perr := strconv.ParseUint(id, 10, 0)
		if perr != nil {
			return false, fmt.Errorf("credentials id %q is not a number", id)
		}
		err = confirm(ctx, v, v.cache.credentials, id, func(c Client) (garm.Credentials, error) {
			return c.GetCredentials(ctx, uint(n))
		})
	case KindRepository:
		err = confirm(ctx, v, v.cache.repositories, id, func(c Client) (garm.Repository, error) {
			return c.GetRepository(ctx, id)
		})
	case KindOrganization:
		err = confirm(ctx, v, v.cache.organizations, id, func(c Client) (garm.Organization, error) {
			return c.GetOrganization(ctx, id)
		})
	case KindEnterprise:
		err = confirm(ctx, v, v.cache.enterprises, id, func(c Client) (garm.Enterprise, error) {
			return c.GetEnterprise(ctx, id)
		})
	case KindPool:
		err = confirm(ctx, v, v.cache.pools, id, func(c Client) (garm.Pool, error) { return c.GetPool(ctx, id) })
	case KindInstance:
		err = confirm(ctx, v, v.cache.instances, id, func(c Client) (garm.Instance, error) {
			return c.GetInstance(ctx, id)
		})
	default:
		return false, fmt.Errorf("a %s cannot be asked for by id", kind)
	}
	if garm.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

// fetch reads one object and refreshes the view with the answer.
func fetch[T any](ctx context.Context, v *View, r *resource[T], do func(Client) (T, error)) (T, error) {
	var zero T
	if v.cache.retired.Load() {
		return zero, ErrStaleView
	}
	start := r.begin()
	obj, err := do(v.session.client)
	if err != nil {
		if !garm.IsNotFound(err) {
			v.session.suspect(err)
		}
		return zero, fmt.Errorf("get %s: %w", r.kind, err)
	}
	if v.cache.retired.Load() {
		return zero, ErrStaleView
	}
	v.session.hub.publish(r.applyObject(start, obj, fromGet)...)
	return obj, nil
}

// confirm is fetch for an object whose absence is the news.
func confirm[T any](ctx context.Context, v *View, r *resource[T], id string, do func(Client) (T, error)) error {
	if id == "" {
		return fmt.Errorf("no id to ask for")
	}
	_, err := fetch(ctx, v, r, do)
	if garm.IsNotFound(err) {
		if v.cache.retired.Load() {
			return ErrStaleView
		}
		_, notices := r.applyDelete(id, true)
		v.session.hub.publish(notices...)
	}
	return err
}

// Relist reads all objects of a kind from the server, unless a list that began at notBefore or later was read already.
// Callers that wait for the same thing share a list.
func (v *View) Relist(ctx context.Context, kind Kind, notBefore time.Time) error {
	v.relisting.Lock()
	defer v.relisting.Unlock()
	for _, k := range v.cache.kinds() {
		if k.name() != kind {
			continue
		}
		if k.plan().listedSince(notBefore) {
			return nil
		}
		if v.cache.retired.Load() {
			return ErrStaleView
		}
		if err := v.session.refresh(ctx, k); err != nil {
			v.session.suspect(err)
			return err
		}
		return nil
	}
	return fmt.Errorf("a %s cannot be listed", kind)
}
