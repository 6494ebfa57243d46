package rest

import (
	"net/http"
	"net/http/pprof"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// routes lists every path. Each is served with and without a slash at its end.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	route := func(method, path string, handler http.HandlerFunc) {
		mux.HandleFunc(method+" "+base+path, handler)
		mux.HandleFunc(method+" "+base+path+"/{$}", handler)
	}
	admin := func(h http.HandlerFunc) http.HandlerFunc {
		return s.requireInit(s.requireURLs(s.requireUser(s.requireAdmin(h))))
	}
	api := func(method, path string, handler http.HandlerFunc) { route(method, path, admin(handler)) }

	route("POST", "/first-run", s.firstRun)
	route("POST", "/auth/login", s.requireInit(s.login))
	withoutURLs := func(h http.HandlerFunc) http.HandlerFunc { return s.requireInit(s.requireUser(s.requireAdmin(h))) }
	route("GET", "/controller", withoutURLs(s.getController))
	route("PUT", "/controller", withoutURLs(s.putController))
	route("POST", "/controller/tools/sync", withoutURLs(s.syncTools))

	api("GET", "/controller-info", s.getController)
	api("GET", "/metrics-token", s.metricsToken)
	api("GET", "/providers", s.listProviders)
	api("GET", "/jobs", s.listJobs)
	api("GET", "/github/endpoints", s.listEndpoints)
	api("POST", "/github/endpoints", s.createEndpoint)
	api("GET", "/github/endpoints/{name}", s.getEndpoint)
	api("PUT", "/github/endpoints/{name}", s.updateEndpoint)
	api("DELETE", "/github/endpoints/{name}", s.deleteEndpoint)
	api("GET", "/credentials", s.listCredentials)
	api("GET", "/github/credentials", s.listCredentials)
	api("POST", "/github/credentials", s.createCredentials)
	api("GET", "/github/credentials/{id}", s.getCredentials)
	api("PUT", "/github/credentials/{id}", s.updateCredentials)
	api("DELETE", "/github/credentials/{id}", s.deleteCredentials)

	for path, kind := range map[string]model.EntityKind{
		"/repositories": model.KindRepository, "/organizations": model.KindOrganization, "/enterprises": model.KindEnterprise,
	} {
		e := entityHandlers{s, kind}
		one := path + "/{entity}"
		api("GET", path, e.list)
		api("POST", path, e.create)
		api("GET", one, e.get)
		api("PUT", one, e.update)
		api("DELETE", one, e.delete)
		api("GET", one+"/pools", e.listPools)
		api("POST", one+"/pools", e.createPool)
		api("GET", one+"/pools/{pool}", e.getPool)
		api("PUT", one+"/pools/{pool}", e.updatePool)
		api("DELETE", one+"/pools/{pool}", e.deletePool)
		api("GET", one+"/instances", e.listInstances)
		api("GET", one+"/scalesets", e.listScaleSets)
		if s.Service.ManageWebhooks && kind != model.KindEnterprise {
			api("GET", one+"/webhook", e.getWebhook)
			api("POST", one+"/webhook", e.installWebhook)
			api("DELETE", one+"/webhook", e.uninstallWebhook)
		}
	}
	api("GET", "/pools", s.listPools)
	api("GET", "/pools/{pool}", s.getPool)
	api("PUT", "/pools/{pool}", s.updatePool)
	api("DELETE", "/pools/{pool}", s.deletePool)
	api("GET", "/pools/{pool}/instances", s.listPoolInstances)
	api("GET", "/instances", s.listInstances)
	api("GET", "/instances/{instance}", s.getInstance)
	api("DELETE", "/instances/{instance}", s.deleteInstance)

	api("GET", "/ws", s.followLog)
	api("GET", "/ws/logs", s.followLog)
	api("GET", "/ws/events", s.followEvents)

	s.runnerRoutes(route)

	mux.HandleFunc(base+"/", admin(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "Not found", "Resource not found")
	}))
	if s.Webhooks != nil {
		for _, path := range []string{"/webhooks", "/webhooks/{controller}", "/webhooks/{$}", "/webhooks/{controller}/{$}"} {
			mux.HandleFunc(path, s.takeWebhook)
		}
	}
	if s.Debug {
		debug := func(h http.HandlerFunc) http.HandlerFunc { return s.requireUser(s.requireAdmin(h)) }
		mux.HandleFunc("GET /debug/pprof/", debug(pprof.Index))
		mux.HandleFunc("GET /debug/pprof/cmdline", debug(pprof.Cmdline))
		mux.HandleFunc("GET /debug/pprof/profile", debug(pprof.Profile))
		mux.HandleFunc("GET /debug/pprof/symbol", debug(pprof.Symbol))
		mux.HandleFunc("GET /debug/pprof/trace", debug(pprof.Trace))
	}
	if s.Metrics != nil {
		mux.HandleFunc("GET /metrics", s.requireMetrics(s.Metrics))
		mux.HandleFunc("GET /metrics/{$}", s.requireMetrics(s.Metrics))
	}
	return mux
}

func (s *Server) takeWebhook(w http.ResponseWriter, r *http.Request) {
	if err := s.Webhooks.Take(w, r); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// runnerRoutes are for runners that are being set up.
func (s *Server) runnerRoutes(route func(method, path string, handler http.HandlerFunc)) {
	runner := func(method, path string, handler http.HandlerFunc) { route(method, path, s.requireInstance(handler)) }
	runner("POST", "/callbacks/status", s.reportStatus)
	runner("POST", "/callbacks/system-info", s.reportSystem)
	// The callback URL that instances get may end with /status; old scripts append it again or post to the bare URL.
	runner("POST", "/callbacks", s.reportStatus)
	runner("GET", "/metadata/runner-registration-token", s.registrationToken)
	runner("GET", "/metadata/credentials/{file}", s.credentialsFile)
	runner("GET", "/metadata/system/service-name", s.serviceName)
	runner("GET", "/metadata/systemd/unit-file", s.unitFile)
	runner("GET", "/metadata/system/cert-bundle", s.certificateBundle)
	runner("GET", "/metadata/runner-metadata", s.runnerMetadata)
	runner("GET", "/metadata/tools/garm-agent", s.agentTools)
}

func (s *Server) requireMetrics(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.MetricsOpen {
			claims, err := s.Tokens.User(bearer(r))
			if err != nil || !claims.ReadMetrics {
				unauthenticated(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	}
}
