package githubsim

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// maxRunners is how many runners one scope can have, as at GitHub.
const maxRunners = 10000

// Runner is a self-hosted runner as the list of runners shows it.
type Runner struct {
	ID        int64    `json:"id"`
	Name      string   `json:"name"`
	Scope     Scope    `json:"scope"`
	OS        string   `json:"os"`
	Online    bool     `json:"online"`
	Busy      bool     `json:"busy"`
	Ephemeral bool     `json:"ephemeral"`
	Labels    []string `json:"labels"`
	GroupID   int64    `json:"runner_group_id"`
}

type runner struct {
	Runner
	token   string
	session *session // nil while offline
	job     *job     // the one that it has or runs
}

// session is the open connection of a runner.
type session struct {
	messages chan runnerapi.Message
	over     chan struct{}
}

// tell queues a message; a session that does not take its messages is over.
func (c *session) tell(m runnerapi.Message) {
	select {
	case c.messages <- m:
	default:
		c.end()
	}
}

// end closes the session. The caller holds Server.mu.
func (c *session) end() {
	select {
	case <-c.over:
	default:
		close(c.over)
	}
}

// Runners are the runners of a scope by id, or all of them where the scope is empty.
func (s *Server) Runners(scope Scope) []Runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Runner{}
	for _, r := range s.state.runners {
		if scope == "" || r.Scope.key() == scope.key() {
			shown := r.Runner
			shown.Labels = slices.Clone(r.Labels)
			list = append(list, shown)
		}
	}
	return list
}

// findRunner is a runner of a scope by id, or nil. The caller holds mu.
func (s *Server) findRunner(scope Scope, id int64) *runner {
	at, found := slices.BinarySearchFunc(s.state.runners, id, func(r *runner, id int64) int { return cmp.Compare(r.ID, id) })
	if !found || s.state.runners[at].Scope.key() != scope.key() {
		return nil
	}
	return s.state.runners[at]
}

// addRunner registers a runner, offline at first. The caller holds mu.
func (s *Server) addRunner(wanted Runner) (*runner, *apiError) {
	count := 0
	for _, r := range s.state.runners {
		if r.Scope.key() != wanted.Scope.key() {
			continue
		}
		count++
		if strings.EqualFold(r.Name, wanted.Name) {
			return nil, &apiError{status: http.StatusConflict, Message: "Already exists - A runner with the name " + wanted.Name + " already exists."}
		}
	}
	if count >= maxRunners {
		return nil, unprocessable("the limit of %d runners is reached", maxRunners)
	}
	wanted.ID = s.nextID("runner")
	added := &runner{Runner: wanted, token: randomText()}
	s.state.runners = append(s.state.runners, added)
	s.state.runnerTokens[added.token] = added
	s.opt.Log.Info("runner registered", "scope", wanted.Scope, "runner", wanted.Name, "id", wanted.ID)
	s.change()
	return added, nil
}

// removeRunner takes a runner off the list and tells it. The caller holds mu.
func (s *Server) removeRunner(gone *runner) {
	s.state.runners = slices.DeleteFunc(s.state.runners, func(r *runner) bool { return r == gone })
	delete(s.state.runnerTokens, gone.token)
	gone.Online = false
	if gone.session != nil {
		gone.session.tell(runnerapi.Message{Type: runnerapi.Removed})
		gone.session = nil
	}
	s.opt.Log.Info("runner removed", "scope", gone.Scope, "runner", gone.Name, "id", gone.ID)
	s.change()
}

func (s *Server) listRunners(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	scope := scopeOf(r)
	name := r.URL.Query().Get("name")
	address := s.publicURL()
	s.mu.Lock()
	defer s.mu.Unlock()
	matching := []*runner{}
	for _, run := range s.state.runners {
		if run.Scope.key() == scope.key() && (name == "" || run.Name == name) {
			matching = append(matching, run)
		}
	}
	shown := []any{}
	for _, run := range page(w, r, address, matching) {
		shown = append(shown, runnerPayload(run))
	}
	return http.StatusOK, map[string]any{"total_count": len(matching), "runners": shown}, nil
}

func (s *Server) getRunner(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.findRunner(scopeOf(r), id)
	if found == nil {
		return 0, nil, notFound()
	}
	return http.StatusOK, runnerPayload(found), nil
}

func (s *Server) deleteRunner(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.findRunner(scopeOf(r), id)
	switch {
	case found == nil:
		return 0, nil, notFound()
	case found.Busy:
		return 0, nil, unprocessable("Bad request - Runner %q is still running a job", found.Name)
	}
	s.removeRunner(found)
	return http.StatusNoContent, nil, nil
}

func (s *Server) listGroups(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	groups := []map[string]any{{"id": 1, "name": "Default", "visibility": "all", "default": true}}
	for i, name := range s.opt.RunnerGroups {
		groups = append(groups, map[string]any{"id": i + 2, "name": name, "visibility": "all", "default": false})
	}
	return http.StatusOK, map[string]any{"total_count": len(groups), "runner_groups": page(w, r, s.publicURL(), groups)}, nil
}

// groupName is the inverse of groupID.
func (s *Server) groupName(id int64) string {
	if id >= 2 && int(id)-2 < len(s.opt.RunnerGroups) {
		return s.opt.RunnerGroups[id-2]
	}
	return "Default"
}

// groupID finds a runner group by name; the empty name is the default group.
func (s *Server) groupID(name string) (int64, bool) {
	if name == "" || strings.EqualFold(name, "Default") {
		return 1, true
	}
	at := slices.IndexFunc(s.opt.RunnerGroups, func(known string) bool { return strings.EqualFold(known, name) })
	return int64(at) + 2, at >= 0
}

func runnerPayload(r *runner) map[string]any {
	labels := []map[string]any{}
	for i, name := range r.Labels {
		labels = append(labels, map[string]any{"id": i + 1, "name": name, "type": "custom"})
	}
	status := "offline"
	if r.Online {
		status = "online"
	}
	return map[string]any{
		"id": r.ID, "name": r.Name, "os": r.OS, "status": status, "busy": r.Busy, "ephemeral": r.Ephemeral,
		"runner_group_id": r.GroupID, "labels": labels,
	}
}

// registration is a registration token.
type registration struct {
	scope   Scope
	expires time.Time
}

const registrationLife = time.Hour
