package rest

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// answers is the one place where kinds of error become HTTP.
var answers = map[model.ErrorKind]struct {
	status int
	title  string
}{
	model.KindNotFound:     {http.StatusNotFound, "Not Found"},
	model.KindUnauthorized: {http.StatusUnauthorized, "Not Authorized"},
	model.KindInvalid:      {http.StatusBadRequest, "Bad Request"},
	model.KindConflict:     {http.StatusConflict, "Conflict"},
	model.KindUpstream:     {http.StatusBadGateway, "Bad Gateway"},
	model.KindInternal:     {http.StatusInternalServerError, "Server error"},
}

// fail answers with an error. Only texts that are meant for the caller leave the server.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	kind := model.KindOf(err)
	answer := answers[kind]
	body := garm.ErrorBody{Error: answer.title}
	switch kind {
	case model.KindNotFound, model.KindInvalid, model.KindConflict, model.KindUpstream:
		var known *model.Error
		errors.As(err, &known)
		body.Details = known.Text
	case model.KindInternal:
		if r.Context().Err() == nil {
			s.log.Error("A request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
	}
	writeJSON(w, answer.status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		slog.Error("An answer cannot be encoded", "error", err)
		status, data = http.StatusInternalServerError, []byte(`{"error":"Server error","details":""}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client may be gone
}

// done answers success without a body.
func done(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
}

var errBody = model.Invalid("invalid request")

// decode reads the JSON body of a request.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into); err != nil {
		return errBody
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, title, details string) {
	writeJSON(w, status, garm.ErrorBody{Error: title, Details: details})
}
