package sqlstore

import (
	"context"
	"reflect"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

var endpoints = table[model.Endpoint]{
	name: "endpoints", key: "name", order: "endpoints.created_at, endpoints.name", own: endpointFields,
}

func endpointFields(e *model.Endpoint) []field {
	return []field{
		{"name", &e.Name},
		{"type", &e.Type},
		{"description", &e.Description},
		{"api_base_url", &e.APIBaseURL},
		{"upload_base_url", &e.UploadBaseURL},
		{"base_url", &e.BaseURL},
		{"ca_cert_bundle", &e.CACertBundle},
		{"created_at", nanos{&e.CreatedAt}},
		{"updated_at", nanos{&e.UpdatedAt}},
	}
}

// prefixed names the fields of a joined table.
func prefixed(alias string, fields []field) []field {
	for i := range fields {
		fields[i].column = alias + "." + fields[i].column
	}
	return fields
}

func noEndpoint(name model.EndpointName) error { return model.NotFound("endpoint %q not found", name) }

// Endpoints returns all endpoints.
func (s *Store) Endpoints(ctx context.Context) ([]model.Endpoint, error) {
	return endpoints.list(ctx, s.reader, "")
}

// Endpoint returns an endpoint by name.
func (s *Store) Endpoint(ctx context.Context, name model.EndpointName) (model.Endpoint, error) {
	return endpoints.one(ctx, s.reader, noEndpoint(name), "endpoints.name = ?", name)
}

// CreateEndpoint adds an endpoint.
func (s *Store) CreateEndpoint(ctx context.Context, e model.Endpoint) (model.Endpoint, error) {
	err := s.write(ctx, "creating the endpoint", func(t *tx) error {
		e.CreatedAt = s.now().UTC()
		e.UpdatedAt = e.CreatedAt
		if _, err := endpoints.insert(ctx, t, &e); err != nil {
			if isDuplicate(err) {
				return model.Conflict("endpoint %q already exists", e.Name)
			}
			return err
		}
		t.changed(model.OpCreate, e)
		return nil
	})
	return e, err
}

// UpdateEndpoint changes an endpoint by update; inUse says whether credentials refer to it. Where update changes
// nothing, nothing is written.
func (s *Store) UpdateEndpoint(ctx context.Context, name model.EndpointName, update func(e *model.Endpoint, inUse bool) error) (model.Endpoint, error) {
	var e model.Endpoint
	err := s.write(ctx, "updating the endpoint", func(t *tx) (err error) {
		if e, err = endpoints.one(ctx, t, noEndpoint(name), "endpoints.name = ?", name); err != nil {
			return err
		}
		inUse, err := endpointInUse(ctx, t, e.Name)
		if err != nil {
			return err
		}
		before := e
		if err := update(&e, inUse); err != nil || reflect.DeepEqual(before, e) {
			return err
		}
		e.UpdatedAt = s.now().UTC()
		t.changed(model.OpUpdate, e)
		return endpoints.update(ctx, t, e.Name, &e)
	})
	return e, err
}

func endpointInUse(ctx context.Context, q querier, name model.EndpointName) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM credentials WHERE endpoint = ?1) + (SELECT count(*) FROM entities WHERE endpoint = ?1)", name).Scan(&n)
	return n > 0, err
}

// DeleteEndpoint removes an endpoint that nothing refers to. A missing one is no error.
func (s *Store) DeleteEndpoint(ctx context.Context, name model.EndpointName) error {
	return s.write(ctx, "deleting the endpoint", func(t *tx) error {
		e, err := endpoints.one(ctx, t, noEndpoint(name), "endpoints.name = ?", name)
		if model.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		inUse, err := endpointInUse(ctx, t, e.Name)
		if err != nil {
			return err
		}
		if inUse {
			return model.Invalid("cannot delete the endpoint %s: credentials or entities refer to it", e.Name)
		}
		t.changed(model.OpDelete, e)
		_, err = t.ExecContext(ctx, "DELETE FROM endpoints WHERE name = ?", e.Name)
		return err
	})
}
