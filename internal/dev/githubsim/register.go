package githubsim

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

func randomText() string { return rand.Text() }

func contains[T comparable](list []T, value T) bool { return slices.Contains(list, value) }

// registrationToken answers both registration-token and remove-token.
func (s *Server) registrationToken(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetExpired()
	token, expires := randomText(), s.opt.Now().Add(registrationLife)
	s.state.registration[token] = registration{scope: scopeOf(r), expires: expires}
	return http.StatusCreated, map[string]any{"token": token, "expires_at": expires.UTC().Format(time.RFC3339)}, nil
}

func (s *Server) generateJITConfig(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var wanted struct {
		Name    string   `json:"name"`
		GroupID int64    `json:"runner_group_id"`
		Labels  []string `json:"labels"`
		Work    string   `json:"work_folder"`
	}
	if failure := readJSON(r, &wanted); failure != nil {
		return 0, nil, failure
	}
	scope := scopeOf(r)
	switch {
	case wanted.Name == "" || len(wanted.Name) > 64:
		return 0, nil, unprocessable("Invalid request. name must have 1 to 64 characters")
	case len(wanted.Labels) == 0 || len(wanted.Labels) > 100:
		return 0, nil, unprocessable("Invalid request. labels must have 1 to 100 items")
	case wanted.GroupID < 1 || int(wanted.GroupID) > len(s.opt.RunnerGroups)+1:
		return 0, nil, unprocessable("Invalid request. runner_group_id %d does not exist", wanted.GroupID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	added, failure := s.addRunner(Runner{
		Name: wanted.Name, Scope: scope, OS: "unknown", Ephemeral: true, Labels: wanted.Labels, GroupID: wanted.GroupID,
	})
	if failure != nil {
		return 0, nil, failure
	}
	files, err := json.Marshal(s.filesOf(added, wanted.Work))
	if err != nil {
		return 0, nil, &apiError{status: http.StatusInternalServerError, Message: err.Error()}
	}
	return http.StatusCreated, map[string]any{
		"runner": runnerPayload(added), "encoded_jit_config": base64.StdEncoding.EncodeToString(files),
	}, nil
}

// filesOf are the files by which a runner connects. The caller holds mu.
func (s *Server) filesOf(r *runner, work string) runnerapi.Files {
	if work == "" {
		work = "_work"
	}
	encode := func(value any) []byte {
		data, _ := json.Marshal(value) // plain structs and maps of strings: cannot fail
		return data
	}
	return runnerapi.Files{
		".runner": encode(runnerapi.Settings{
			AgentID: r.ID, AgentName: r.Name, PoolID: r.GroupID, ServerURL: s.address,
			GitHubURL: s.publicURLLocked() + r.Scope.webPath(), WorkFolder: work, Ephemeral: r.Ephemeral,
		}),
		".credentials":           encode(runnerapi.Credentials{Scheme: "OAuth", Data: runnerapi.CredentialsData{Token: r.token}}),
		".credentials_rsaparams": encode(map[string]string{"d": randomText()}),
	}
}

// register answers a runner that comes with a registration token.
func (s *Server) register(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var wanted runnerapi.Registration
	if failure := readJSON(r, &wanted); failure != nil {
		return 0, nil, failure
	}
	scope, err := scopeOfWebURL(wanted.URL)
	if err != nil {
		return 0, nil, unprocessable("%s", err)
	}
	group, found := s.groupID(wanted.Group)
	switch {
	case !found:
		return 0, nil, unprocessable("Could not find any self-hosted runner group named %q.", wanted.Group)
	case wanted.Name == "":
		return 0, nil, unprocessable("name is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token, found := s.state.registration[wanted.Token]
	if !found || token.scope.key() != scope.key() || !s.opt.Now().Before(token.expires) {
		return 0, nil, notFound()
	}
	labels := slices.Clone(wanted.Labels)
	if !wanted.NoDefaultLabels {
		labels = append([]string{"self-hosted", "Linux", "X64"}, labels...)
	}
	added, failure := s.addRunner(Runner{
		Name: wanted.Name, Scope: scope, OS: "linux", Ephemeral: wanted.Ephemeral, Labels: labels, GroupID: group,
	})
	if failure != nil {
		return 0, nil, failure
	}
	return http.StatusCreated, s.filesOf(added, ""), nil
}
