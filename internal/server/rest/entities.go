package rest

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

// entityHandlers serve the entities of one kind.
type entityHandlers struct {
	*Server
	kind model.EntityKind
}

func (s *Server) wireEntity(e model.Entity) garm.Entity {
	balancer := e.Balancer
	if balancer == "" {
		balancer = model.BalanceRoundRobin
	}
	health := s.Service.Health(e.ID)
	return garm.Entity{
		ID: string(e.ID), Name: e.Name, CredentialsName: e.Credentials.Name, CredentialsID: uint(e.Credentials.ID), Credentials: wireCredentials(e.Credentials),
		PoolManagerStatus: garm.PoolManagerStatus{Running: health.Running, FailureReason: health.FailureReason},
		PoolBalancerType:  string(balancer), Endpoint: wireEndpoint(e.Endpoint()), CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, AgentMode: e.AgentMode,
	}
}

// wireAny is an entity in the form of its kind.
func (s *Server) wireAny(e model.Entity) any { return shaped(e, s.wireEntity(e)) }

func shaped(e model.Entity, wire garm.Entity) any {
	switch e.Kind {
	case model.KindRepository:
		return garm.Repository{Owner: e.Owner, Entity: wire}
	case model.KindOrganization:
		return garm.Organization{Entity: wire}
	}
	return garm.Enterprise{Entity: wire}
}

func (s *Server) wireView(v service.EntityView) any {
	wire := s.wireEntity(v.Entity)
	for _, p := range v.Pools {
		wire.Pools = append(wire.Pools, entityPool(p))
	}
	for _, e := range v.Events {
		wire.Events = append(wire.Events, garm.EntityEvent{ID: e.ID, CreatedAt: e.CreatedAt, EventType: "status", EventLevel: string(e.Level), Message: e.Message})
	}
	return shaped(v.Entity, wire)
}

// pathUUID reads an id from the path; one that is no UUID is the caller's mistake.
func pathUUID[ID ~string](r *http.Request, name string) (ID, error) {
	value := r.PathValue(name)
	id, err := uuid.Parse(value)
	if err != nil || len(value) != 36 {
		return "", model.Invalid("error parsing id: %q is not a UUID", value)
	}
	return ID(id.String()), nil
}

func entityID(r *http.Request) (model.EntityID, error) { return pathUUID[model.EntityID](r, "entity") }

func (h entityHandlers) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	list, err := h.Service.Entities(r.Context(), h.kind, service.EntityFilter{Owner: query.Get("owner"), Name: query.Get("name"), Endpoint: query.Get("endpoint")})
	answerList(h.Server, w, r, list, err, h.wireAny)
}

func (h entityHandlers) create(w http.ResponseWriter, r *http.Request) {
	var p garm.CreateEntityParams
	if err := decode(w, r, &p); err != nil {
		h.fail(w, r, err)
		return
	}
	e, err := h.Service.CreateEntity(r.Context(), service.NewEntity{
		Kind: h.kind, Owner: p.Owner, Name: p.Name, CredentialsName: p.CredentialsName, WebhookSecret: p.WebhookSecret,
		Balancer: model.Balancer(p.PoolBalancerType), ForgeType: model.ForgeType(p.ForgeType), AgentMode: p.AgentMode,
	})
	answer(h.Server, w, r, e, err, h.wireAny)
}

func (h entityHandlers) get(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	view, err := h.Service.EntityView(r.Context(), h.kind, id)
	answer(h.Server, w, r, view, err, h.wireView)
}

func (h entityHandlers) update(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	var p garm.UpdateEntityParams
	if err := decode(w, r, &p); err != nil {
		h.fail(w, r, err)
		return
	}
	e, err := h.Service.UpdateEntity(r.Context(), h.kind, id, service.EntityUpdate{
		CredentialsName: p.CredentialsName, WebhookSecret: p.WebhookSecret, Balancer: model.Balancer(p.PoolBalancerType), AgentMode: p.AgentMode,
	})
	answer(h.Server, w, r, e, err, h.wireAny)
}

func (h entityHandlers) delete(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err == nil {
		err = h.Service.DeleteEntity(r.Context(), h.kind, id, flag(r, "keepWebhook"))
	}
	h.answerDone(w, r, err)
}

// answerDone answers success without a body, or the error.
func (s *Server) answerDone(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	done(w)
}

func (h entityHandlers) listInstances(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	list, err := h.Service.InstancesOfEntity(r.Context(), h.kind, id)
	answerList(h.Server, w, r, list, err, wireInstance)
}

// listScaleSets: there are none, and clients that look for them need not fail.
func (h entityHandlers) listScaleSets(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err == nil {
		_, err = h.Service.Entity(r.Context(), h.kind, id)
	}
	answerList(h.Server, w, r, []struct{}{}, err, func(v struct{}) struct{} { return v })
}
