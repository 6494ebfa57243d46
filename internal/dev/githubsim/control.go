package githubsim

import (
	"net/http"
	"slices"
)

// maxJobsAtOnce bounds the count of one POST /_sim/jobs.
const maxJobsAtOnce = 1000

func (s *Server) controlRoutes(mux *http.ServeMux) {
	mux.Handle("POST /_sim/jobs", answer(s.controlQueue))
	mux.Handle("GET /_sim/jobs", show(s.Jobs))
	mux.Handle("DELETE /_sim/jobs/{id}", answer(s.controlCancel))
	mux.Handle("POST /_sim/faults", answer(s.controlAddFault))
	mux.Handle("GET /_sim/faults", show(s.listFaults))
	mux.Handle("DELETE /_sim/faults", answer(func(http.ResponseWriter, *http.Request) (int, any, *apiError) {
		s.ClearFaults()
		return http.StatusNoContent, nil, nil
	}))
	mux.Handle("DELETE /_sim/faults/{id}", answer(s.controlRemoveFault))
	mux.Handle("POST /_sim/hooks", answer(s.controlAddHook))
	mux.Handle("GET /_sim/hooks", show(s.Hooks))
	mux.Handle("GET /_sim/calls", show(s.Calls))
	mux.Handle("GET /_sim/deliveries", show(s.Deliveries))
	mux.Handle("GET /_sim/runners", show(func() []Runner { return s.Runners("") }))
}

// show answers with what a method of the Go API returns.
func show[T any](value func() T) http.Handler {
	return answer(func(http.ResponseWriter, *http.Request) (int, any, *apiError) { return http.StatusOK, value(), nil })
}

func badRequest(err error) *apiError {
	return &apiError{status: http.StatusBadRequest, Message: err.Error()}
}

func (s *Server) controlQueue(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var wanted struct {
		JobSpec
		Count int `json:"count"`
	}
	if failure := readJSON(r, &wanted); failure != nil {
		return 0, nil, failure
	}
	if wanted.Count < 0 || wanted.Count > maxJobsAtOnce {
		return 0, nil, unprocessable("count is %d: give 1 to %d", wanted.Count, maxJobsAtOnce)
	}
	jobs := []Job{}
	for range max(wanted.Count, 1) {
		queued, err := s.QueueJob(wanted.JobSpec)
		if err != nil {
			return 0, nil, badRequest(err)
		}
		jobs = append(jobs, queued)
	}
	return http.StatusCreated, jobs, nil
}

func (s *Server) controlCancel(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	if s.CancelJob(id) != nil {
		return 0, nil, notFound()
	}
	return http.StatusNoContent, nil, nil
}

func (s *Server) controlAddFault(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var wanted Fault
	if failure := readJSON(r, &wanted); failure != nil {
		return 0, nil, failure
	}
	id, err := s.AddFault(wanted)
	if err != nil {
		return 0, nil, badRequest(err)
	}
	return http.StatusCreated, map[string]int64{"id": id}, nil
}

func (s *Server) controlRemoveFault(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	id, failure := idOf(r)
	if failure != nil {
		return 0, nil, failure
	}
	s.RemoveFault(id)
	return http.StatusNoContent, nil, nil
}

func (s *Server) listFaults() []fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []fault{}
	for _, f := range slices.Clone(s.state.faults) {
		list = append(list, *f)
	}
	return list
}

func (s *Server) controlAddHook(_ http.ResponseWriter, r *http.Request) (int, any, *apiError) {
	var wanted struct {
		Hook
		Secret string `json:"secret"`
	}
	if failure := readJSON(r, &wanted); failure != nil {
		return 0, nil, failure
	}
	wanted.Hook.Secret = wanted.Secret
	id, err := s.AddHook(wanted.Hook)
	if err != nil {
		return 0, nil, badRequest(err)
	}
	return http.StatusCreated, map[string]int64{"id": id}, nil
}
