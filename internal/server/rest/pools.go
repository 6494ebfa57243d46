package rest

import (
	"net/http"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

func wirePool(p model.Pool) garm.Pool {
	wire := garm.Pool{
		RunnerPrefix: p.RunnerPrefix, ID: string(p.ID), ProviderName: p.ProviderName, MaxRunners: p.MaxRunners, MinIdleRunners: p.MinIdleRunners,
		Image: p.Image, Flavor: p.Flavor, OSType: string(p.OSType), OSArch: string(p.OSArch), Tags: []garm.Tag{}, Enabled: p.Enabled,
		Instances: []garm.Instance{}, RunnerBootstrapTimeout: uint(p.BootstrapTimeout / time.Minute), ExtraSpecs: p.ExtraSpecs, RunnerGroup: p.RunnerGroup,
		Priority: p.Priority, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, EnableShell: p.EnableShell, Generation: p.Generation,
		Endpoint: wireEndpoint(p.Endpoint), TemplateID: p.TemplateID, TemplateName: p.TemplateName,
	}
	for _, t := range p.Tags {
		wire.Tags = append(wire.Tags, garm.Tag{ID: string(t.ID), Name: t.Name})
	}
	switch p.EntityKind {
	case model.KindRepository:
		wire.RepoID, wire.RepoName = string(p.EntityID), p.EntityName
	case model.KindOrganization:
		wire.OrgID, wire.OrgName = string(p.EntityID), p.EntityName
	case model.KindEnterprise:
		wire.EnterpriseID, wire.EnterpriseName = string(p.EntityID), p.EntityName
	}
	return wire
}

// listedPool is a pool in a list, which leaves out the extra specs.
func listedPool(p model.Pool) garm.Pool {
	wire := wirePool(p)
	wire.ExtraSpecs = nil
	return wire
}

// entityPool is a pool in a list of its entity, which leaves out the endpoint: it is the entity's.
func entityPool(p model.Pool) garm.Pool {
	p.Endpoint = model.Endpoint{}
	return listedPool(p)
}

func wirePoolView(v service.PoolView) garm.Pool {
	wire := wirePool(v.Pool)
	for _, i := range v.Instances {
		i.ProviderName = "" // it is the pool's
		wire.Instances = append(wire.Instances, wireInstance(i))
	}
	return wire
}

func newPool(p garm.CreatePoolParams) model.Pool {
	return model.Pool{
		ProviderName: p.ProviderName, RunnerPrefix: p.RunnerPrefix, Image: p.Image, Flavor: p.Flavor, OSType: model.OSType(p.OSType), OSArch: model.OSArch(p.OSArch),
		Tags: service.NewTags(p.Tags), MaxRunners: p.MaxRunners, MinIdleRunners: p.MinIdleRunners, Enabled: p.Enabled,
		BootstrapTimeout: minutes(p.RunnerBootstrapTimeout), ExtraSpecs: p.ExtraSpecs, RunnerGroup: p.RunnerGroup, Priority: p.Priority,
		EnableShell: p.EnableShell != nil && *p.EnableShell,
	}
}

// minutes is bounded, so that a huge number does not wrap around.
func minutes(n uint) time.Duration {
	return time.Duration(min(n, garm.MaxRunnerBootstrapTimeout)) * time.Minute
}

func poolUpdate(p garm.UpdatePoolParams) service.PoolUpdate {
	u := service.PoolUpdate{
		RunnerPrefix: p.RunnerPrefix, Image: p.Image, Flavor: p.Flavor, OSType: model.OSType(p.OSType), OSArch: model.OSArch(p.OSArch), Tags: p.Tags,
		ExtraSpecs: p.ExtraSpecs, Enabled: p.Enabled, EnableShell: p.EnableShell, MaxRunners: p.MaxRunners, MinIdleRunners: p.MinIdleRunners,
		RunnerGroup: p.RunnerGroup, Priority: p.Priority,
	}
	if p.RunnerBootstrapTimeout != nil {
		u.BootstrapTimeout = new(minutes(*p.RunnerBootstrapTimeout))
	}
	return u
}

func poolID(r *http.Request) (model.PoolID, error) { return pathUUID[model.PoolID](r, "pool") }

func (s *Server) listPools(w http.ResponseWriter, r *http.Request) {
	list, err := s.Service.Pools(r.Context())
	answerList(s, w, r, list, err, listedPool)
}

func (s *Server) getPool(w http.ResponseWriter, r *http.Request)    { s.showPool(w, r, "") }
func (s *Server) updatePool(w http.ResponseWriter, r *http.Request) { s.changePool(w, r, "") }
func (s *Server) deletePool(w http.ResponseWriter, r *http.Request) { s.removePool(w, r, "") }

func (s *Server) showPool(w http.ResponseWriter, r *http.Request, owner model.EntityID) {
	id, err := poolID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	view, err := s.Service.Pool(r.Context(), owner, id)
	answer(s, w, r, view, err, wirePoolView)
}

func (s *Server) changePool(w http.ResponseWriter, r *http.Request, owner model.EntityID) {
	id, err := poolID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var p garm.UpdatePoolParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	view, err := s.Service.UpdatePool(r.Context(), owner, id, poolUpdate(p))
	answer(s, w, r, view, err, wirePoolView)
}

func (s *Server) removePool(w http.ResponseWriter, r *http.Request, owner model.EntityID) {
	id, err := poolID(r)
	if err == nil {
		err = s.Service.DeletePool(r.Context(), owner, id)
	}
	s.answerDone(w, r, err)
}

func (h entityHandlers) listPools(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	list, err := h.Service.PoolsOfEntity(r.Context(), h.kind, id)
	answerList(h.Server, w, r, list, err, entityPool)
}

func (h entityHandlers) createPool(w http.ResponseWriter, r *http.Request) {
	id, err := entityID(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	var p garm.CreatePoolParams
	if err := decode(w, r, &p); err != nil {
		h.fail(w, r, err)
		return
	}
	pool, err := h.Service.CreatePool(r.Context(), h.kind, id, newPool(p))
	answer(h.Server, w, r, pool, err, wirePool)
}

// owned calls a handler of pools with the entity of the path.
func (h entityHandlers) owned(w http.ResponseWriter, r *http.Request, handler func(http.ResponseWriter, *http.Request, model.EntityID)) {
	id, err := entityID(r)
	if err == nil {
		_, err = h.Service.Entity(r.Context(), h.kind, id)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	handler(w, r, id)
}

func (h entityHandlers) getPool(w http.ResponseWriter, r *http.Request) { h.owned(w, r, h.showPool) }

func (h entityHandlers) updatePool(w http.ResponseWriter, r *http.Request) {
	h.owned(w, r, h.changePool)
}

func (h entityHandlers) deletePool(w http.ResponseWriter, r *http.Request) {
	h.owned(w, r, h.removePool)
}
