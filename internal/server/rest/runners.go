package rest

import (
	"fmt"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
)

func (s *Server) reportStatus(w http.ResponseWriter, r *http.Request) {
	var p garm.StatusUpdate
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	s.answerDone(w, r, s.Service.ReportStatus(r.Context(), instanceOf(r), runnerStatus(p.Status), p.Message, orZero(p.AgentID)))
}

func (s *Server) reportSystem(w http.ResponseWriter, r *http.Request) {
	var p garm.SystemInfo
	if err := decode(w, r, &p); err != nil {
		s.fail(w, r, err)
		return
	}
	s.answerDone(w, r, s.Service.ReportSystem(r.Context(), instanceOf(r), p.OSName, p.OSVersion, orZero(p.AgentID)))
}

func orZero(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func (s *Server) registrationToken(w http.ResponseWriter, r *http.Request) {
	token, err := s.Service.RegistrationToken(r.Context(), instanceOf(r))
	s.answerText(w, r, "application/json", token, err)
}

func (s *Server) credentialsFile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	content, err := s.Service.CredentialsFile(r.Context(), instanceOf(r), name)
	if err == nil {
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "."+name))
	}
	s.answerText(w, r, "octet-stream", string(content), err)
}

func (s *Server) serviceName(w http.ResponseWriter, r *http.Request) {
	name, err := s.Service.ServiceName(r.Context(), instanceOf(r))
	s.answerText(w, r, "text/plain", name, err)
}

func (s *Server) unitFile(w http.ResponseWriter, r *http.Request) {
	text, err := s.Service.UnitFile(r.Context(), instanceOf(r), r.URL.Query().Get("runAsUser"))
	s.answerText(w, r, "text/plain", text, err)
}

// answerText answers with a text of a media type.
func (s *Server) answerText(w http.ResponseWriter, r *http.Request, mediaType, text string, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(text)) // the client may be gone
}

func (s *Server) certificateBundle(w http.ResponseWriter, r *http.Request) {
	bundle, err := s.Service.CertificateBundle(r.Context(), instanceOf(r))
	answer(s, w, r, bundle, err, func(b map[string][]byte) garm.CertificateBundle { return garm.CertificateBundle{RootCertificates: b} })
}
