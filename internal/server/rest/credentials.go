package rest

import (
	"net/http"
	"strconv"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

func wireCredentials(c model.Credentials) garm.Credentials {
	e := c.Endpoint
	return garm.Credentials{
		ID: uint(c.ID), Name: c.Name, Description: c.Description, APIBaseURL: e.APIBaseURL, UploadBaseURL: e.UploadBaseURL, BaseURL: e.BaseURL,
		CABundle: e.CACertBundle, AuthType: string(c.AuthType), ForgeType: string(e.Type), Endpoint: wireEndpoint(e), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}

func (s *Server) listCredentials(w http.ResponseWriter, r *http.Request) {
	list, err := s.Service.AllCredentials(r.Context())
	answerList(s, w, r, list, err, wireCredentials)
}

func appSecret(a *garm.App) *service.AppSecret {
	if a == nil {
		return nil
	}
	return &service.AppSecret{AppID: a.AppID, InstallationID: a.InstallationID, PrivateKey: a.PrivateKey}
}

func patSecret(p *garm.PAT) *string {
	if p == nil {
		return nil
	}
	return &p.OAuth2Token
}

func (s *Server) createCredentials(w http.ResponseWriter, r *http.Request) {
	var p garm.CreateCredentialsParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	c, err := s.Service.CreateCredentials(r.Context(), service.NewCredentials{
		Name: p.Name, Description: p.Description, Endpoint: model.EndpointName(p.Endpoint), AuthType: model.AuthType(p.AuthType), Token: patSecret(p.PAT), App: appSecret(p.App),
	})
	answer(s, w, r, c, err, wireCredentials)
}

func credentialsID(r *http.Request) (model.CredentialsID, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 63)
	if err != nil {
		return 0, errBody
	}
	return model.CredentialsID(id), nil
}

func (s *Server) getCredentials(w http.ResponseWriter, r *http.Request) {
	id, err := credentialsID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	use, err := s.Service.Credentials(r.Context(), id)
	answer(s, w, r, use, err, s.wireUse)
}

func (s *Server) wireUse(use service.CredentialsUse) garm.Credentials {
	c := wireCredentials(use.Credentials)
	for _, e := range use.Entities {
		switch wire := s.wireEntity(e); e.Kind {
		case model.KindRepository:
			c.Repositories = append(c.Repositories, garm.Repository{Owner: e.Owner, Entity: wire})
		case model.KindOrganization:
			c.Organizations = append(c.Organizations, garm.Organization{Entity: wire})
		case model.KindEnterprise:
			c.Enterprises = append(c.Enterprises, garm.Enterprise{Entity: wire})
		}
	}
	return c
}

func (s *Server) updateCredentials(w http.ResponseWriter, r *http.Request) {
	id, err := credentialsID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var p garm.UpdateCredentialsParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	c, err := s.Service.UpdateCredentials(r.Context(), id, service.CredentialsUpdate{
		Name: p.Name, Description: p.Description, Token: patSecret(p.PAT), App: appSecret(p.App),
	})
	answer(s, w, r, c, err, wireCredentials)
}

func (s *Server) deleteCredentials(w http.ResponseWriter, r *http.Request) {
	id, err := credentialsID(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.answerDeleted(w, r, s.Service.DeleteCredentials(r.Context(), id))
}
