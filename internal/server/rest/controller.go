package rest

import (
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/service"
)

func (s *Server) firstRun(w http.ResponseWriter, r *http.Request) {
	// The conflict comes before the body is looked at: clients probe with any body.
	if err := s.Service.CheckUninitialized(r.Context()); err != nil {
		s.fail(w, r, err)
		return
	}
	var p garm.NewUserParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	user, err := s.Service.FirstRun(r.Context(), service.NewAdmin{Username: p.Username, Email: p.Email, FullName: p.FullName, Password: p.Password})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, wireUser(user))
}

func wireUser(u model.User) garm.User {
	return garm.User{
		ID: string(u.ID), CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt, Email: u.Email, Username: u.Username, FullName: u.FullName,
		Enabled: u.Enabled, IsAdmin: u.IsAdmin,
	}
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var p garm.LoginParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	token, err := s.Service.Login(r.Context(), p.Username, p.Password)
	s.answerToken(w, r, token, err)
}

func (s *Server) metricsToken(w http.ResponseWriter, r *http.Request) {
	token, err := s.Service.MetricsToken()
	s.answerToken(w, r, token, err)
}

func (s *Server) answerToken(w http.ResponseWriter, r *http.Request, token string, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, garm.Token{Token: token})
}

func (s *Server) getController(w http.ResponseWriter, r *http.Request) {
	c, err := s.Service.Controller(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	info := s.wireController(c)
	info.Hostname, _ = os.Hostname()
	writeJSON(w, http.StatusOK, info)
}

func (s *Server) putController(w http.ResponseWriter, r *http.Request) {
	var p garm.UpdateControllerParams
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	u := service.ControllerUpdate{
		MetadataURL: p.MetadataURL, CallbackURL: p.CallbackURL, WebhookURL: p.WebhookURL, AgentURL: p.AgentURL, AgentReleasesURL: p.AgentReleasesURL,
		EnableAgentToolsSync: p.EnableAgentToolsSync, CACertBundle: p.CACertBundle, ClearCACertBundle: p.ClearCACertBundle != nil && *p.ClearCACertBundle,
	}
	if p.MinimumJobAgeBackoff != nil {
		u.JobBackoff = new(time.Duration(*p.MinimumJobAgeBackoff) * time.Second)
	}
	c, err := s.Service.UpdateController(r.Context(), u)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, s.wireController(c))
}

// syncTools would refresh the agent's tools, which this server does not keep.
func (s *Server) syncTools(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, model.Conflict("agent tools sync is disabled"))
}

func (s *Server) wireController(c model.Controller) garm.ControllerInfo {
	info := garm.ControllerInfo{
		ControllerID: string(c.ID), MetadataURL: c.MetadataURL, CallbackURL: c.CallbackURL, WebhookURL: c.WebhookURL,
		ControllerWebhookURL: string(c.ID), MinimumJobAgeBackoff: uint(c.JobBackoff / time.Second), Version: s.Version,
		AgentURL: agentURL(c), AgentReleasesURL: c.AgentReleasesURL, EnableAgentToolsSync: c.EnableAgentToolsSync, CACertBundle: c.CACertBundle,
	}
	if own := c.OwnWebhookURL(); own != "" {
		info.ControllerWebhookURL = own
	}
	return info
}

// agentURL is the host of the callback URL where no other was set.
func agentURL(c model.Controller) string {
	if c.AgentURL != "" || c.CallbackURL == "" {
		return c.AgentURL
	}
	u, err := url.Parse(c.CallbackURL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (s *Server) listProviders(w http.ResponseWriter, _ *http.Request) {
	list := []garm.Provider{}
	for _, p := range s.Service.Providers {
		list = append(list, garm.Provider{Name: p.Name, Type: "external", Description: p.Description})
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) listJobs(w http.ResponseWriter, r *http.Request) {
	jobs, err := s.Service.Jobs(r.Context())
	answerList(s, w, r, jobs, err, wireJob)
}

// answerList answers with the wire form of a list, which is never null.
func answerList[T, W any](s *Server, w http.ResponseWriter, r *http.Request, list []T, err error, wire func(T) W) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := make([]W, 0, len(list))
	for _, row := range list {
		answer = append(answer, wire(row))
	}
	writeJSON(w, http.StatusOK, answer)
}

// answer answers with the wire form of an object.
func answer[T, W any](s *Server, w http.ResponseWriter, r *http.Request, object T, err error, wire func(T) W) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, wire(object))
}
