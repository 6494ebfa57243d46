package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// ErrNotReady is returned by a Writer while its session cannot write. Nothing was sent.
var ErrNotReady = errors.New("GARM server is not ready")

// ErrStaleView is returned by a Writer and by ConfirmGone when the server has another controller id than their View.
// Nothing was sent.
var ErrStaleView = errors.New("GARM server has another controller id")

// Writer makes the calls that change the server. It keeps few of them in flight, and makes their results visible in the
// View before it returns. Errors of the server are *garm.Error in the chain; after one for which garm.OutcomeUnknown
// holds the call may have been carried out, so a create must not be repeated before a look.
type Writer struct{ view *View }

// Writer returns the writer of the view.
func (v *View) Writer() *Writer { return &Writer{view: v} }

// UpdateController changes the server's URLs. It works in PhaseURLsRequired, too, and wakes the session. What it returns is
// the State's Controller from then on.
func (w *Writer) UpdateController(ctx context.Context, params garm.UpdateControllerParams) (garm.ControllerInfo, error) {
	var info garm.ControllerInfo
	s := w.view.session
	if err := s.controller.Acquire(ctx, 1); err != nil {
		return info, fmt.Errorf("UpdateController: wait for a look at the controller: %w", err)
	}
	defer s.controller.Release(1)
	err := w.call(ctx, "UpdateController", State.Connected, func(c Client) (err error) {
		info, err = c.UpdateController(ctx, params)
		return err
	})
	if err == nil {
		s.setState(func(st *State) {
			if info.Hostname == "" {
				info.Hostname = st.Controller.Hostname
			}
			if st.Identity == w.view.identity {
				st.Controller = info
			}
		})
	}
	s.Poke()
	return info, err
}

// CreateEndpoint creates an endpoint.
func (w *Writer) CreateEndpoint(ctx context.Context, params garm.CreateEndpointParams) (garm.Endpoint, error) {
	return put(ctx, w, "CreateEndpoint", w.view.cache.endpoints, func(c Client) (garm.Endpoint, error) {
		return c.CreateEndpoint(ctx, params)
	})
}

// UpdateEndpoint changes an endpoint.
func (w *Writer) UpdateEndpoint(ctx context.Context, name string, params garm.UpdateEndpointParams) (garm.Endpoint, error) {
	return put(ctx, w, "UpdateEndpoint", w.view.cache.endpoints, func(c Client) (garm.Endpoint, error) {
		return c.UpdateEndpoint(ctx, name, params)
	})
}

// DeleteEndpoint deletes an endpoint.
func (w *Writer) DeleteEndpoint(ctx context.Context, name string) error {
	return remove(ctx, w, "DeleteEndpoint", w.view.cache.endpoints, EndpointKey(name), func(c Client) error {
		return c.DeleteEndpoint(ctx, name)
	})
}

// CreateCredentials creates credentials.
func (w *Writer) CreateCredentials(ctx context.Context, params garm.CreateCredentialsParams) (garm.Credentials, error) {
	return put(ctx, w, "CreateCredentials", w.view.cache.credentials, func(c Client) (garm.Credentials, error) {
		return c.CreateCredentials(ctx, params)
	})
}

// UpdateCredentials changes credentials.
func (w *Writer) UpdateCredentials(ctx context.Context, id uint, params garm.UpdateCredentialsParams) (garm.Credentials, error) {
	return put(ctx, w, "UpdateCredentials", w.view.cache.credentials, func(c Client) (garm.Credentials, error) {
		return c.UpdateCredentials(ctx, id, params)
	})
}

// DeleteCredentials deletes credentials.
func (w *Writer) DeleteCredentials(ctx context.Context, id uint) error {
	return remove(ctx, w, "DeleteCredentials", w.view.cache.credentials, CredentialsID(id), func(c Client) error {
		return c.DeleteCredentials(ctx, id)
	})
}

// CreateRepository creates a repository.
func (w *Writer) CreateRepository(ctx context.Context, params garm.CreateEntityParams) (garm.Repository, error) {
	return put(ctx, w, "CreateRepository", w.view.cache.repositories, func(c Client) (garm.Repository, error) {
		return c.CreateRepository(ctx, params)
	})
}

// UpdateRepository changes a repository.
func (w *Writer) UpdateRepository(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Repository, error) {
	return put(ctx, w, "UpdateRepository", w.view.cache.repositories, func(c Client) (garm.Repository, error) {
		return c.UpdateRepository(ctx, id, params)
	})
}

// DeleteRepository deletes a repository.
func (w *Writer) DeleteRepository(ctx context.Context, id string) error {
	return remove(ctx, w, "DeleteRepository", w.view.cache.repositories, id, func(c Client) error {
		return c.DeleteRepository(ctx, id)
	})
}

// CreateOrganization creates an organization.
func (w *Writer) CreateOrganization(ctx context.Context, params garm.CreateEntityParams) (garm.Organization, error) {
	return put(ctx, w, "CreateOrganization", w.view.cache.organizations, func(c Client) (garm.Organization, error) {
		return c.CreateOrganization(ctx, params)
	})
}

// UpdateOrganization changes an organization.
func (w *Writer) UpdateOrganization(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Organization, error) {
	return put(ctx, w, "UpdateOrganization", w.view.cache.organizations, func(c Client) (garm.Organization, error) {
		return c.UpdateOrganization(ctx, id, params)
	})
}

// DeleteOrganization deletes an organization.
func (w *Writer) DeleteOrganization(ctx context.Context, id string) error {
	return remove(ctx, w, "DeleteOrganization", w.view.cache.organizations, id, func(c Client) error {
		return c.DeleteOrganization(ctx, id)
	})
}

// CreateEnterprise creates an enterprise.
func (w *Writer) CreateEnterprise(ctx context.Context, params garm.CreateEntityParams) (garm.Enterprise, error) {
	return put(ctx, w, "CreateEnterprise", w.view.cache.enterprises, func(c Client) (garm.Enterprise, error) {
		return c.CreateEnterprise(ctx, params)
	})
}

// UpdateEnterprise changes an enterprise.
func (w *Writer) UpdateEnterprise(ctx context.Context, id string, params garm.UpdateEntityParams) (garm.Enterprise, error) {
	return put(ctx, w, "UpdateEnterprise", w.view.cache.enterprises, func(c Client) (garm.Enterprise, error) {
		return c.UpdateEnterprise(ctx, id, params)
	})
}

// DeleteEnterprise deletes an enterprise.
func (w *Writer) DeleteEnterprise(ctx context.Context, id string) error {
	return remove(ctx, w, "DeleteEnterprise", w.view.cache.enterprises, id, func(c Client) error {
		return c.DeleteEnterprise(ctx, id)
	})
}

// CreatePool creates a pool. It is not idempotent: see garm.OutcomeUnknown.
func (w *Writer) CreatePool(ctx context.Context, scope Scope, params garm.CreatePoolParams) (garm.Pool, error) {
	return put(ctx, w, "CreatePool", w.view.cache.pools, func(c Client) (garm.Pool, error) {
		switch scope.Kind {
		case KindRepository:
			return c.CreateRepositoryPool(ctx, scope.ID, params)
		case KindOrganization:
			return c.CreateOrganizationPool(ctx, scope.ID, params)
		case KindEnterprise:
			return c.CreateEnterprisePool(ctx, scope.ID, params)
		default:
			return garm.Pool{}, fmt.Errorf("a pool cannot belong to a %s", scope.Kind)
		}
	})
}

// UpdatePool changes a pool.
func (w *Writer) UpdatePool(ctx context.Context, id string, params garm.UpdatePoolParams) (garm.Pool, error) {
	return put(ctx, w, "UpdatePool", w.view.cache.pools, func(c Client) (garm.Pool, error) {
		return c.UpdatePool(ctx, id, params)
	})
}

// DeletePool deletes a pool that has no instances.
func (w *Writer) DeletePool(ctx context.Context, id string) error {
	return remove(ctx, w, "DeletePool", w.view.cache.pools, id, func(c Client) error {
		return c.DeletePool(ctx, id)
	})
}

// DeleteInstance asks the server to remove an instance, which it does later: the view shows the instance until then.
// Force goes on although GitHub refuses the credentials, the pool manager is down, or the provider fails.
func (w *Writer) DeleteInstance(ctx context.Context, name string, force bool) error {
	err := w.call(ctx, "DeleteInstance", State.Ready, func(c Client) error { return c.DeleteInstance(ctx, name, force) })
	if garm.IsNotFound(err) || !w.view.session.State().Events {
		w.view.cache.instances.refresh.markDirty(false)
	}
	return err
}

// put makes a call that returns the object it made or changed.
func put[T any](ctx context.Context, w *Writer, op string, r *resource[T], do func(Client) (T, error)) (T, error) {
	var obj T
	start := uint64(0)
	err := w.call(ctx, op, State.Ready, func(c Client) (err error) {
		start = r.begin()
		obj, err = do(c)
		return err
	})
	if err != nil {
		if garm.OutcomeUnknown(err) {
			r.refresh.markDirty(false)
		}
		return obj, err
	}
	w.view.session.hub.publish(r.applyObject(start, obj, fromWrite)...)
	if entity(r.kind) {
		r.refresh.wrote(time.Now())
	}
	return obj, nil
}

// remove makes a call after which the object is gone.
func remove[T any](ctx context.Context, w *Writer, op string, r *resource[T], id string, do func(Client) error) error {
	err := w.call(ctx, op, State.Ready, do)
	switch {
	case err == nil || garm.IsNotFound(err):
		_, notices := r.applyDelete(id, true)
		w.view.session.hub.publish(notices...)
	case garm.OutcomeUnknown(err):
		r.refresh.markDirty(false)
	}
	return err
}

// call waits for a free slot and makes the call, unless the session is not fit for it.
func (w *Writer) call(ctx context.Context, op string, fit func(State) bool, do func(Client) error) error {
	s := w.view.session
	asked := time.Now()
	if err := s.writes.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("%s: wait for a free slot: %w", op, err)
	}
	defer s.writes.Release(1)
	if w.view.cache.retired.Load() {
		return fmt.Errorf("%s: %w", op, ErrStaleView)
	}
	if !fit(s.State()) {
		return fmt.Errorf("%s: %w", op, ErrNotReady)
	}
	begun := time.Now()
	err := do(s.client)
	s.opts.Metrics.Written(s.opts.Server, op, begun.Sub(asked), time.Since(begun), err)
	if err == nil {
		return nil
	}
	s.suspect(err)
	return fmt.Errorf("%s: %w", op, err)
}

func entity(k Kind) bool {
	return k == KindRepository || k == KindOrganization || k == KindEnterprise
}
