package githubsim

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

// maxQueued bounds the jobs that are not finished.
const maxQueued = 20000

// JobStatus is the state of a job.
type JobStatus string

// Job states, in their order.
const (
	Queued     JobStatus = "queued"
	InProgress JobStatus = "in_progress"
	Completed  JobStatus = "completed"
)

// JobSpec is a job to queue.
type JobSpec struct {
	// Repo is "owner/name". Required.
	Repo string `json:"repo"`
	// Labels must all be among those of the runner. Required.
	Labels []string `json:"labels"`
	// Name is shown to users. Default "build".
	Name string `json:"name,omitempty"`
	// Duration is how long the runner works on it.
	Duration Duration `json:"duration,omitempty"`
	// Conclusion is how it ends. Default "success".
	Conclusion string `json:"conclusion,omitempty"`
}

// Job is a job of a workflow.
type Job struct {
	ID              int64     `json:"id"`
	RunID           int64     `json:"run_id"`
	Name            string    `json:"name"`
	Repo            string    `json:"repo"`
	Labels          []string  `json:"labels"`
	Status          JobStatus `json:"status"`
	Conclusion      string    `json:"conclusion"`
	RunnerID        int64     `json:"runner_id"`
	RunnerName      string    `json:"runner_name"`
	RunnerGroupID   int64     `json:"runner_group_id"`
	RunnerGroupName string    `json:"runner_group_name"`
	CreatedAt       time.Time `json:"created_at"`
	StartedAt       time.Time `json:"started_at"`
	CompletedAt     time.Time `json:"completed_at"`
}

type job struct {
	Job
	spec   JobSpec
	scope  Scope
	runner *runner // the one that has it, from the assignment to the end
}

// QueueJob queues a job and tells the hooks.
func (s *Server) QueueJob(spec JobSpec) (Job, error) {
	owner, name, found := strings.Cut(spec.Repo, "/")
	if !found || owner == "" || name == "" || strings.Contains(name, "/") {
		return Job{}, fmt.Errorf("repo is %q: give owner/name", spec.Repo)
	}
	if len(spec.Labels) == 0 {
		return Job{}, errors.New("labels are empty: a job without labels finds no runner")
	}
	if spec.Duration < 0 {
		return Job{}, fmt.Errorf("duration is %s: give one that is not negative", time.Duration(spec.Duration))
	}
	spec.Name, spec.Conclusion = cmp.Or(spec.Name, "build"), cmp.Or(spec.Conclusion, "success")
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom() {
		return Job{}, fmt.Errorf("%d jobs wait or run already", maxQueued)
	}
	added := &job{spec: spec, scope: RepositoryScope(owner, name), Job: Job{
		ID: s.nextID("job"), RunID: s.nextID("run"), Name: spec.Name, Repo: spec.Repo, Labels: slices.Clone(spec.Labels),
		Status: Queued, CreatedAt: s.opt.Now(),
	}}
	s.state.jobs = append(s.state.jobs, added)
	s.announce(added, "")
	s.findRunnerFor(added)
	return added.Job, nil
}

// makeRoom forgets the oldest finished jobs and says whether there is room for a new one. The caller holds mu.
func (s *Server) makeRoom() bool {
	finished := 0
	for _, j := range s.state.jobs {
		if j.Status == Completed {
			finished++
		}
	}
	if extra := finished - s.opt.History; extra > 0 {
		s.state.jobs = slices.DeleteFunc(s.state.jobs, func(j *job) bool {
			if j.Status != Completed {
				return false
			}
			extra--
			return extra >= 0
		})
	}
	return len(s.state.jobs)-finished < maxQueued
}

// CancelJob ends a job, whatever its state. A finished one stays as it is.
func (s *Server) CancelJob(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.findJob(id)
	if found == nil {
		return fmt.Errorf("there is no job %d", id)
	}
	if found.Status == Completed {
		return nil
	}
	run := found.runner
	s.complete(found, "cancelled")
	if run != nil {
		if run.session != nil {
			run.session.tell(runnerapi.Message{Type: runnerapi.JobCancelled})
		}
		s.free(run)
	}
	return nil
}

// Jobs are all jobs by id: the unfinished ones and the latest finished ones.
func (s *Server) Jobs() []Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Job, 0, len(s.state.jobs))
	for _, j := range s.state.jobs {
		list = append(list, j.Job)
	}
	return list
}

// Job is one job.
func (s *Server) Job(id int64) (Job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.findJob(id); found != nil {
		return found.Job, true
	}
	return Job{}, false
}

// findJob is a job by id, or nil. The caller holds mu.
func (s *Server) findJob(id int64) *job {
	at, found := slices.BinarySearchFunc(s.state.jobs, id, func(j *job, id int64) int { return cmp.Compare(j.ID, id) })
	if !found {
		return nil
	}
	return s.state.jobs[at]
}

func (s *Server) getJob(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.findJob(id)
	if found == nil || found.scope.key() != scopeOf(r).key() {
		return 0, nil, notFound()
	}
	return http.StatusOK, jobPayload(found, s.publicURLLocked()), nil
}

// complete ends a job and tells the hooks. The caller holds mu.
func (s *Server) complete(j *job, conclusion string) {
	var scope Scope
	if j.runner != nil {
		scope = j.runner.Scope
	}
	j.Status, j.Conclusion, j.CompletedAt, j.runner = Completed, conclusion, s.opt.Now(), nil
	s.announce(j, scope)
}

// announce logs a new state of a job and tells the hooks. The caller holds mu.
func (s *Server) announce(j *job, runnerScope Scope) {
	s.opt.Log.Info("job "+string(j.Status), "job", j.ID, "repo", j.Repo, "runner", j.RunnerName, "runnerScope", runnerScope, "conclusion", j.Conclusion)
	s.notifyHooks(j)
	s.change()
}
