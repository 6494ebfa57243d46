package githubsim

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// maxHooks is how many hooks a scope can have, as at GitHub.
const maxHooks = 20

// Hook is a webhook.
type Hook struct {
	ID    int64  `json:"id"`
	Scope Scope  `json:"scope"`
	URL   string `json:"url"`
	// Secret signs the deliveries, unless it is empty. It is never shown.
	Secret string `json:"-"`
	// Events are the names of those to deliver; "*" is all. Default: workflow_job.
	Events      []string `json:"events"`
	InsecureSSL bool     `json:"insecure_ssl"`
	Inactive    bool     `json:"inactive"`
}

type hook struct {
	Hook
	contentType string
}

// AddHook installs a hook as a user would by hand, without a call of the API. Enterprises have hooks only so.
func (s *Server) AddHook(wanted Hook) (int64, error) {
	scope, err := ParseScope(string(wanted.Scope))
	if err != nil {
		return 0, err
	}
	if u, err := url.Parse(wanted.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return 0, fmt.Errorf("url of the hook is %q: give an http or https URL", wanted.URL)
	}
	if len(wanted.Events) == 0 {
		wanted.Events = []string{"workflow_job"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted.Scope, wanted.ID = scope, s.nextID("hook")
	s.state.hooks = append(s.state.hooks, &hook{Hook: wanted, contentType: "json"})
	s.change()
	return wanted.ID, nil
}

// Hooks are all hooks.
func (s *Server) Hooks() []Hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Hook, 0, len(s.state.hooks))
	for _, h := range s.state.hooks {
		list = append(list, h.Hook)
	}
	return list
}

type hookBody struct {
	Config *struct {
		URL         string `json:"url"`
		ContentType string `json:"content_type"`
		Secret      string `json:"secret"`
		InsecureSSL any    `json:"insecure_ssl"` // "0", "1", 0 or 1
	} `json:"config"`
	Events []string `json:"events"`
	Active *bool    `json:"active"`
}

// apply puts what a body says into a hook and says what is wrong with it.
func (b hookBody) apply(h *hook) *apiError {
	if b.Config != nil {
		u, err := url.Parse(b.Config.URL)
		if err != nil || u.Host == "" {
			return unprocessable("Validation Failed: config.url is not a URL")
		}
		h.URL, h.Secret = b.Config.URL, cmp.Or(b.Config.Secret, h.Secret)
		h.contentType = cmp.Or(b.Config.ContentType, "form")
		h.InsecureSSL = fmt.Sprint(b.Config.InsecureSSL) == "1"
	}
	if len(b.Events) > 0 {
		h.Events = b.Events
	}
	if b.Active != nil {
		h.Inactive = !*b.Active
	}
	return nil
}

func (s *Server) createHook(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var body hookBody
	if failure := readJSON(r, &body); failure != nil {
		return 0, nil, failure
	}
	added := &hook{Hook: Hook{Scope: scopeOf(r), Events: []string{"push"}}}
	if body.Config == nil {
		return 0, nil, unprocessable("Validation Failed: config is missing")
	}
	if failure := body.apply(added); failure != nil {
		return 0, nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, h := range s.state.hooks {
		if h.Scope.key() == added.Scope.key() {
			count++
		}
		if h.Scope.key() == added.Scope.key() && h.URL == added.URL && slices.Equal(h.Events, added.Events) {
			failure := unprocessable("Validation Failed")
			failure.Errors = []map[string]any{{"resource": "Hook", "code": "custom", "message": "Hook already exists on this " + added.Scope.targetType()}}
			return 0, nil, failure
		}
	}
	if count >= maxHooks {
		return 0, nil, unprocessable("a %s cannot have more than %d hooks", added.Scope.targetType(), maxHooks)
	}
	added.ID = s.nextID("hook")
	s.state.hooks = append(s.state.hooks, added)
	s.opt.Log.Info("hook created", "scope", added.Scope, "hook", added.ID, "url", added.URL)
	s.ping(added)
	s.change()
	return http.StatusCreated, s.hookPayload(added), nil
}

func (s *Server) listHooks(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	address := s.publicURL()
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := []any{}
	for _, h := range s.state.hooks {
		if h.Scope.key() == scopeOf(r).key() {
			shown = append(shown, s.hookPayload(h))
		}
	}
	return http.StatusOK, page(w, r, address, shown), nil
}

func (s *Server) getHook(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	return s.onHook(r, func(h *hook) (int, any, *apiError) { return http.StatusOK, s.hookPayload(h), nil })
}

func (s *Server) editHook(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var body hookBody
	if failure := readJSON(r, &body); failure != nil {
		return 0, nil, failure
	}
	return s.onHook(r, func(h *hook) (int, any, *apiError) {
		if failure := body.apply(h); failure != nil {
			return 0, nil, failure
		}
		s.change()
		return http.StatusOK, s.hookPayload(h), nil
	})
}

func (s *Server) deleteHook(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	return s.onHook(r, func(gone *hook) (int, any, *apiError) {
		s.state.hooks = slices.DeleteFunc(s.state.hooks, func(h *hook) bool { return h == gone })
		s.opt.Log.Info("hook removed", "scope", gone.Scope, "hook", gone.ID)
		s.change()
		return http.StatusNoContent, nil, nil
	})
}

func (s *Server) pingHook(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	return s.onHook(r, func(h *hook) (int, any, *apiError) {
		s.ping(h)
		return http.StatusNoContent, nil, nil
	})
}

// onHook runs do, under the lock, on the hook that a request names.
func (s *Server) onHook(r *http.Request, do func(*hook) (int, any, *apiError)) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.state.hooks {
		if h.ID == id && h.Scope.key() == scopeOf(r).key() {
			return do(h)
		}
	}
	return 0, nil, notFound()
}

// hookPayload shows a hook, its secret masked as GitHub does. The caller holds mu.
func (s *Server) hookPayload(h *hook) map[string]any {
	config := map[string]any{"url": h.URL, "content_type": h.contentType, "insecure_ssl": "0"}
	if h.InsecureSSL {
		config["insecure_ssl"] = "1"
	}
	if h.Secret != "" {
		config["secret"] = "********"
	}
	self := fmt.Sprintf("%s/api/v3/%s/hooks/%d", s.publicURLLocked(), h.Scope, h.ID)
	return map[string]any{
		"id": h.ID, "type": h.Scope.targetType(), "name": "web", "active": !h.Inactive, "events": h.Events, "config": config,
		"url": self, "ping_url": self + "/pings",
	}
}
