package githubsim

import (
	"encoding/json"
	"net/http"

	"github.com/garm-operator/garm-operator/internal/dev/githubsim/runnerapi"
)

const (
	controlPrefix = "/_sim/"
	runnerPrefix  = "/_sim/runner/"
)

func (s *Server) runnerProtocol(mux *http.ServeMux) {
	mux.Handle("POST "+runnerapi.RegisterPath, answer(s.register))
	mux.Handle("GET "+runnerapi.SessionPath, answer(s.holdSession))
	mux.Handle("POST "+runnerapi.StartPath, answer(s.startJob))
	mux.Handle("POST "+runnerapi.FinishPath, answer(s.finishJob))
}

// runnerOf is the runner that a request of the protocol comes from. The caller holds mu.
func (s *Server) runnerOf(r *http.Request) (*runner, *apiError) {
	found := s.state.runnerTokens[bearerToken(r)]
	if found == nil {
		return nil, &apiError{status: http.StatusUnauthorized, Message: "the runner is not registered"}
	}
	return found, nil
}

// holdSession keeps a runner online for as long as its connection lives.
func (s *Server) holdSession(w http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	s.mu.Lock()
	run, failure := s.runnerOf(r)
	if failure != nil {
		s.mu.Unlock()
		return 0, nil, failure
	}
	if run.session != nil { // the runner came back before its old connection was seen to end
		run.session.end()
		run.session = nil
		s.loseJob(run)
	}
	own := &session{messages: make(chan runnerapi.Message, 8), over: make(chan struct{})}
	run.session, run.Online = own, true
	own.tell(runnerapi.Message{Type: runnerapi.Connected})
	s.opt.Log.Info("runner online", "scope", run.Scope, "runner", run.Name)
	s.findJobFor(run)
	s.change()
	s.mu.Unlock()

	s.stream(w, r, own)

	s.mu.Lock()
	defer s.mu.Unlock()
	own.end()
	if run.session == own {
		run.session, run.Online = nil, false
		s.opt.Log.Info("runner offline", "scope", run.Scope, "runner", run.Name)
		s.loseJob(run)
		s.change()
	}
	return 0, nil, nil
}

// stream writes the messages of a session until either side ends it. What is queued when it ends is still written.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, own *session) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	encoder := json.NewEncoder(w)
	for {
		select {
		case m := <-own.messages:
			if encoder.Encode(m) != nil || flush() != nil || m.Type == runnerapi.Removed {
				return
			}
		case <-own.over:
			return
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// reported is the runner and the job that a report is about. The caller holds mu.
func (s *Server) reported(r *http.Request) (*runner, *job, runnerapi.Report, *apiError) {
	var report runnerapi.Report
	if failure := readJSON(r, &report); failure != nil {
		return nil, nil, report, failure
	}
	run, failure := s.runnerOf(r)
	if failure != nil {
		return nil, nil, report, failure
	}
	if run.job == nil || run.job.ID != report.JobID {
		return nil, nil, report, &apiError{status: http.StatusConflict, Message: "the runner does not have this job"}
	}
	return run, run.job, report, nil
}

func (s *Server) startJob(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, has, _, failure := s.reported(r)
	if failure != nil {
		return 0, nil, failure
	}
	if has.Status == Queued {
		has.Status, has.StartedAt = InProgress, s.opt.Now()
		has.RunnerID, has.RunnerName, has.RunnerGroupID, has.RunnerGroupName = run.ID, run.Name, run.GroupID, s.groupName(run.GroupID)
		s.announce(has, run.Scope)
	}
	return http.StatusNoContent, nil, nil
}

func (s *Server) finishJob(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, has, report, failure := s.reported(r)
	if failure != nil {
		return 0, nil, failure
	}
	if has.Status != InProgress {
		return 0, nil, &apiError{status: http.StatusConflict, Message: "the job has not started"}
	}
	if report.Conclusion == "" {
		report.Conclusion = "success"
	}
	s.complete(has, report.Conclusion)
	s.free(run)
	return http.StatusNoContent, nil, nil
}

// free makes a runner idle after its job; an ephemeral one is gone. The caller holds mu.
func (s *Server) free(run *runner) {
	run.job, run.Busy = nil, false
	if run.Ephemeral {
		s.removeRunner(run)
		return
	}
	s.findJobFor(run)
	s.change()
}

// loseJob is what becomes of the job of a runner whose connection ended: one that had not started goes back to the
// queue, one that ran has failed. The caller holds mu.
func (s *Server) loseJob(run *runner) {
	lost := run.job
	if lost == nil {
		return
	}
	run.job, run.Busy, lost.runner = nil, false, nil
	if lost.Status == InProgress {
		s.complete(lost, "failure")
		return
	}
	s.findRunnerFor(lost)
}
