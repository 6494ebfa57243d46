package githubsim

import (
	"net/http"
	"strings"
)

// endpoint is a handler of the REST API: it returns what to answer, or the error to answer instead.
type endpoint func(w http.ResponseWriter, r *http.Request) (status int, body any, failure *apiError)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.entityRoutes(mux)
	s.runnerProtocol(mux)
	s.controlRoutes(mux)
	mux.Handle("GET /downloads/{file}", answer(s.download))
	mux.Handle("GET /rate_limit", s.authenticated(s.rateLimit, false))
	mux.Handle("POST /app/installations/{id}/access_tokens", answer(s.installationToken))
	mux.Handle("/", answer(func(http.ResponseWriter, *http.Request) (int, any, *apiError) { return 0, nil, notFound() }))
	return s.observed(mux)
}

func (s *Server) entityRoutes(mux *http.ServeMux) {
	for _, prefix := range []string{"/repos/{owner}/{repo}", "/orgs/{org}", "/enterprises/{enterprise}"} {
		route := func(method, path string, handle endpoint) {
			mux.Handle(method+" "+prefix+path, s.authenticated(s.ofScope(handle), true))
		}
		route("GET", "", s.describe)
		route("GET", "/actions/runners", s.listRunners)
		route("GET", "/actions/runners/{id}", s.getRunner)
		route("DELETE", "/actions/runners/{id}", s.deleteRunner)
		route("GET", "/actions/runners/downloads", s.listDownloads)
		route("POST", "/actions/runners/registration-token", s.registrationToken)
		route("POST", "/actions/runners/remove-token", s.registrationToken)
		route("POST", "/actions/runners/generate-jitconfig", s.generateJITConfig)
		if strings.Contains(prefix, "{repo}") {
			route("GET", "/actions/jobs/{id}", s.getJob)
		} else {
			route("GET", "/actions/runner-groups", s.listGroups)
		}
		if strings.Contains(prefix, "{enterprise}") {
			continue
		}
		route("GET", "/hooks", s.listHooks)
		route("POST", "/hooks", s.createHook)
		route("GET", "/hooks/{id}", s.getHook)
		route("PATCH", "/hooks/{id}", s.editHook)
		route("DELETE", "/hooks/{id}", s.deleteHook)
		route("POST", "/hooks/{id}/pings", s.pingHook)
	}
}

// answer turns an endpoint into a handler.
func answer(handle endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, body, failure := handle(w, r)
		switch {
		case failure != nil:
			writeError(w, failure)
		case status != 0: // 0: the endpoint has written its answer
			writeJSON(w, status, body)
		}
	}
}

// ofScope lets the name of a scope decide before the endpoint does.
func (s *Server) ofScope(handle endpoint) endpoint {
	return func(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
		if failure := scopeOf(r).misfortune(); failure != nil {
			return 0, nil, failure
		}
		return handle(w, r)
	}
}

// observed is what happens to every request: the prefix goes, the call is counted, faults come first.
func (s *Server) observed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, prefix := range []string{"/api/v3", "/api/uploads"} {
			if rest, found := strings.CutPrefix(r.URL.Path, prefix); found && (rest == "" || rest[0] == '/') {
				clone := *r.URL
				clone.Path, clone.RawPath = "/"+strings.TrimPrefix(rest, "/"), ""
				r = r.Clone(r.Context())
				r.URL = &clone
				break
			}
		}
		if strings.HasPrefix(r.URL.Path, controlPrefix) && !strings.HasPrefix(r.URL.Path, runnerPrefix) {
			mux.ServeHTTP(w, r)
			return
		}
		_, pattern := mux.Handler(r)
		recorded := &statusRecorder{ResponseWriter: w}
		began, f := s.opt.Now(), s.faultFor(r)
		defer func() {
			s.countCall(Call{
				Method: r.Method, Path: r.URL.Path, Route: pattern, Status: recorded.status, Fault: f.answers(), Duration: s.opt.Now().Sub(began),
			})
		}()
		if f != nil {
			f.serve(recorded, r, mux)
			return
		}
		mux.ServeHTTP(recorded, r)
	})
}

// describe answers GET of the repository, organization or enterprise itself.
func (s *Server) describe(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	scope := scopeOf(r)
	page := s.publicURL() + scope.webPath()
	switch scope.kind() {
	case repos:
		return http.StatusOK, repositoryPayload(scope, s.publicURL()), nil
	case orgs:
		return http.StatusOK, map[string]any{"id": idOfName(scope), "login": scope.name(), "html_url": page, "type": "Organization"}, nil
	}
	return http.StatusOK, map[string]any{"id": idOfName(scope), "slug": scope.name(), "name": scope.name(), "html_url": page}, nil
}
