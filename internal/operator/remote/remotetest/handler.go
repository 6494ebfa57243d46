package remotetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/garm-operator/garm-operator/garm"
)

// Handler serves the server over HTTP as GARM does, as far as remote.Client goes. Any user and password log in.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	const api = "/api/v1"
	mux.HandleFunc("POST "+api+"/auth/login", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, garm.Token{Token: "token"}, nil)
	})
	mux.HandleFunc("GET "+api+"/ws/events", s.serveEvents)
	handle(mux, "GET "+api+"/controller", func(r *http.Request) (any, error) { return s.GetController(r.Context()) })
	handle(mux, "PUT "+api+"/controller", with(s.UpdateController))
	handle(mux, "GET "+api+"/providers", func(r *http.Request) (any, error) { return s.ListProviders(r.Context()) })

	handle(mux, "GET "+api+"/github/endpoints", func(r *http.Request) (any, error) { return s.ListEndpoints(r.Context()) })
	handle(mux, "POST "+api+"/github/endpoints", with(s.CreateEndpoint))
	handle(mux, "GET "+api+"/github/endpoints/{id}", get(s.GetEndpoint))
	handle(mux, "PUT "+api+"/github/endpoints/{id}", withID(s.UpdateEndpoint))
	handle(mux, "DELETE "+api+"/github/endpoints/{id}", del(s.DeleteEndpoint))

	handle(mux, "GET "+api+"/github/credentials", func(r *http.Request) (any, error) { return s.ListCredentials(r.Context()) })
	handle(mux, "POST "+api+"/github/credentials", with(s.CreateCredentials))
	handle(mux, "GET "+api+"/github/credentials/{id}", func(r *http.Request) (any, error) {
		return s.GetCredentials(r.Context(), number(r))
	})
	handle(mux, "DELETE "+api+"/github/credentials/{id}", func(r *http.Request) (any, error) {
		return nil, s.DeleteCredentials(r.Context(), number(r))
	})

	entities(mux, api+"/repositories", s.ListRepositories, s.CreateRepository, s.GetRepository, s.UpdateRepository, s.DeleteRepository, s.CreateRepositoryPool)
	entities(mux, api+"/organizations", s.ListOrganizations, s.CreateOrganization, s.GetOrganization, s.UpdateOrganization, s.DeleteOrganization, s.CreateOrganizationPool)
	entities(mux, api+"/enterprises", s.ListEnterprises, s.CreateEnterprise, s.GetEnterprise, s.UpdateEnterprise, s.DeleteEnterprise, s.CreateEnterprisePool)

	handle(mux, "GET "+api+"/pools", func(r *http.Request) (any, error) { return s.ListPools(r.Context()) })
	handle(mux, "GET "+api+"/pools/{id}", get(s.GetPool))
	handle(mux, "PUT "+api+"/pools/{id}", withID(s.UpdatePool))
	handle(mux, "DELETE "+api+"/pools/{id}", del(s.DeletePool))
	handle(mux, "GET "+api+"/instances", func(r *http.Request) (any, error) { return s.ListInstances(r.Context()) })
	handle(mux, "GET "+api+"/instances/{id}", get(s.GetInstance))
	handle(mux, "DELETE "+api+"/instances/{id}", func(r *http.Request) (any, error) {
		return nil, s.DeleteInstance(r.Context(), r.PathValue("id"), r.URL.Query().Get("forceRemove") == "true")
	})
	return mux
}

func entities[T any](
	mux *http.ServeMux, path string,
	list func(context.Context) ([]T, error),
	create func(context.Context, garm.CreateEntityParams) (T, error),
	one func(context.Context, string) (T, error),
	update func(context.Context, string, garm.UpdateEntityParams) (T, error),
	remove func(context.Context, string) error,
	pool func(context.Context, string, garm.CreatePoolParams) (garm.Pool, error),
) {
	handle(mux, "GET "+path, func(r *http.Request) (any, error) { return list(r.Context()) })
	handle(mux, "POST "+path, with(create))
	handle(mux, "GET "+path+"/{id}", get(one))
	handle(mux, "PUT "+path+"/{id}", withID(update))
	handle(mux, "DELETE "+path+"/{id}", del(remove))
	handle(mux, "POST "+path+"/{id}/pools", withID(pool))
}

func handle(mux *http.ServeMux, pattern string, do func(*http.Request) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		reply(w, v, err)
	})
}

func get[T any](do func(context.Context, string) (T, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) { return do(r.Context(), r.PathValue("id")) }
}

func del(do func(context.Context, string) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) { return nil, do(r.Context(), r.PathValue("id")) }
}

func with[P, T any](do func(context.Context, P) (T, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var params P
		if err := json.NewDecoder(r.Body).Decode(&params); err != nil {
			return nil, Error("decode", 400)
		}
		return do(r.Context(), params)
	}
}

func withID[P, T any](do func(context.Context, string, P) (T, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		return with(func(ctx context.Context, p P) (T, error) { return do(ctx, r.PathValue("id"), p) })(r)
	}
}

func number(r *http.Request) uint {
	n, _ := strconv.ParseUint(r.PathValue("id"), 10, 0)
	return uint(n)
}

func reply(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	var e *garm.Error
	switch {
	case err == nil && v == nil:
		w.WriteHeader(http.StatusOK)
	case err == nil:
		_ = json.NewEncoder(w).Encode(v)
	case errors.As(err, &e) && e.Kind == garm.KindURLsRequired:
		w.WriteHeader(e.Status)
		_ = json.NewEncoder(w).Encode(garm.ErrorBody{Error: garm.URLsRequired})
	case errors.As(err, &e) && e.Status != 0:
		w.WriteHeader(e.Status)
		_ = json.NewEncoder(w).Encode(garm.ErrorBody{Error: title(e.Status), Details: e.Details})
	default:
		panic(http.ErrAbortHandler)
	}
}

func title(status int) string {
	switch status {
	case http.StatusNotFound:
		return "Not Found"
	case http.StatusBadRequest:
		return "Bad Request"
	case http.StatusUnauthorized:
		return "Not Authorized"
	case http.StatusConflict:
		return "Conflict"
	default:
		return "Server error"
	}
}

func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	_, data, err := conn.Read(r.Context())
	var filter garm.EventFilter
	if err != nil || json.Unmarshal(data, &filter) != nil {
		return
	}
	stream, err := s.Events(r.Context(), filter)
	if err != nil {
		return
	}
	defer func() { _ = stream.Close() }()
	ctx := conn.CloseRead(r.Context())
	for {
		event, err := stream.Next(ctx)
		if err != nil {
			return
		}
		data, err := json.Marshal(event)
		if err != nil || conn.Write(ctx, websocket.MessageText, data) != nil {
			return
		}
	}
}
