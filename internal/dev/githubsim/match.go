package githubsim

import (
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// findJobFor gives the oldest waiting job that fits to a runner that is online and idle. The caller holds mu.
func (s *Server) findJobFor(run *runner) {
	if run.session == nil || run.job != nil {
		return
	}
	for _, j := range s.state.jobs {
		if j.Status == Queued && j.runner == nil && s.fits(j, run) {
			s.assign(j, run)
			return
		}
	}
}

// findRunnerFor gives a waiting job to the oldest idle runner that fits. The caller holds mu.
func (s *Server) findRunnerFor(j *job) {
	for _, run := range s.state.runners {
		if run.session != nil && run.job == nil && s.fits(j, run) {
			s.assign(j, run)
			return
		}
	}
}

// assign makes a runner busy with a job, which starts when the runner says so. The caller holds mu.
func (s *Server) assign(j *job, run *runner) {
	j.runner, run.job, run.Busy = run, j, true
	run.session.tell(runnerapi.Message{Type: runnerapi.JobAssigned, Job: &runnerapi.Job{
		ID: j.ID, Name: j.Name, Repository: j.Repo, Duration: time.Duration(j.spec.Duration), Conclusion: j.spec.Conclusion,
	}})
	s.change()
}

// fits says whether a runner may take a job: its scope covers the repository and it has all the labels.
func (s *Server) fits(j *job, run *runner) bool {
	return slices.Contains(s.scopesOver(j.scope), run.Scope.key()) && hasLabels(run.Labels, j.Labels)
}

// scopesOver are the keys of a repository's own scope, its organization's and its enterprise's, if it has one.
func (s *Server) scopesOver(repository Scope) []Scope {
	owner := strings.Split(string(repository), "/")[1]
	scopes := []Scope{repository.key(), OrganizationScope(owner).key()}
	for login, slug := range s.opt.Enterprises {
		if strings.EqualFold(login, owner) {
			scopes = append(scopes, EnterpriseScope(slug).key())
		}
	}
	return scopes
}

// hasLabels says whether all wanted labels are there; letter case does not count.
func hasLabels(there, wanted []string) bool {
	for _, label := range wanted {
		if !slices.ContainsFunc(there, func(has string) bool { return strings.EqualFold(has, label) }) {
			return false
		}
	}
	return true
}
