package rest

import (
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

func wireEndpoint(e model.Endpoint) garm.Endpoint {
	return garm.Endpoint{
		Name: string(e.Name), Description: e.Description, APIBaseURL: e.APIBaseURL, UploadBaseURL: e.UploadBaseURL, BaseURL: e.BaseURL,
		CACertBundle: e.CACertBundle, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, EndpointType: string(e.Type),
	}
}

func (s *Server) listEndpoints(w http.ResponseWriter, r *http.Request) {
	list, err := s.Service.Endpoints(r.Context())
	answerList(s, w, r, list, err, wireEndpoint)
}

func (s *Server) createEndpoint(w http.ResponseWriter, r *http.Request) {
	var p garm.CreateEndpointParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	e, err := s.Service.CreateEndpoint(r.Context(), model.Endpoint{
		Name: model.EndpointName(p.Name), Description: p.Description, APIBaseURL: p.APIBaseURL, UploadBaseURL: p.UploadBaseURL, BaseURL: p.BaseURL,
		CACertBundle: p.CACertBundle,
	})
	answer(s, w, r, e, err, wireEndpoint)
}

func endpointName(r *http.Request) model.EndpointName { return model.EndpointName(r.PathValue("name")) }

func (s *Server) getEndpoint(w http.ResponseWriter, r *http.Request) {
	e, err := s.Service.Endpoint(r.Context(), endpointName(r))
	answer(s, w, r, e, err, wireEndpoint)
}

func (s *Server) updateEndpoint(w http.ResponseWriter, r *http.Request) {
	var p garm.UpdateEndpointParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	e, err := s.Service.UpdateEndpoint(r.Context(), endpointName(r), service.EndpointUpdate{
		Description: p.Description, APIBaseURL: p.APIBaseURL, UploadBaseURL: p.UploadBaseURL, BaseURL: p.BaseURL, CACertBundle: p.CACertBundle,
	})
	answer(s, w, r, e, err, wireEndpoint)
}

func (s *Server) deleteEndpoint(w http.ResponseWriter, r *http.Request) {
	s.answerDeleted(w, r, s.Service.DeleteEndpoint(r.Context(), endpointName(r)))
}

// answerDeleted answers 204, which clients expect of endpoints and credentials only.
func (s *Server) answerDeleted(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
