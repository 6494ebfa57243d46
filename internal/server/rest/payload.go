package rest

import (
	"encoding/json"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

var entityTypes = map[model.EntityKind]garm.EntityType{
	model.KindRepository: garm.EntityTypeRepository, model.KindOrganization: garm.EntityTypeOrganization, model.KindEnterprise: garm.EntityTypeEnterprise,
}

// event is a change as the event stream shows it; ok is false where clients are not told.
func (s *Server) event(c model.Change) (kind garm.EntityType, payload func() any, ok bool) {
	gone := c.Operation == model.OpDelete
	switch o := c.Object.(type) {
	case model.Controller:
		return garm.EntityTypeController, func() any { return s.wireController(o) }, true
	case model.User:
		return garm.EntityTypeUser, func() any { return wireUser(o) }, true
	case model.Endpoint:
		if gone {
			o = model.Endpoint{Name: o.Name}
		}
		return garm.EntityTypeEndpoint, func() any { return wireEndpoint(o) }, true
	case model.Credentials:
		if gone {
			o = model.Credentials{ID: o.ID, Name: o.Name, Endpoint: model.Endpoint{Type: o.Endpoint.Type}}
		}
		return garm.EntityTypeCredentials, func() any { return wireCredentials(o) }, true
	case model.Entity:
		return entityTypes[o.Kind], func() any { return s.wireAny(o) }, true
	case model.Pool:
		return garm.EntityTypePool, func() any { return wirePool(o) }, true
	case model.Instance:
		return garm.EntityTypeInstance, func() any { return eventInstance(o) }, true
	case model.Job:
		return garm.EntityTypeJob, func() any { return wireJob(o) }, true
	}
	return "", nil, false
}

// eventInstance has the addresses besides, which a list leaves out.
func eventInstance(i model.Instance) garm.Instance {
	wire := wireInstance(i)
	for _, a := range i.Addresses {
		wire.Addresses = append(wire.Addresses, garm.Address{Address: a.Address, Type: a.Type})
	}
	return wire
}

// frame is a change as a text frame, or nil where the filter does not select it.
func (s *Server) frame(c model.Change, f *filter) ([]byte, error) {
	kind, payload, ok := s.event(c)
	if !ok || !f.selects(kind, garm.Operation(c.Operation)) {
		return nil, nil
	}
	data, err := json.Marshal(payload())
	if err != nil {
		return nil, err
	}
	return json.Marshal(garm.Event{EntityType: kind, Operation: garm.Operation(c.Operation), Payload: data})
}
