package githubsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Call is a request that the simulator got.
type Call struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	// Path is what was asked for, without the prefix of the API and without the query.
	Path string `json:"path"`
	// Route is method and path with placeholders, such as "GET /orgs/{org}/actions/runners", or "unmatched".
	Route string `json:"route"`
	// Status is 0 where the connection was dropped.
	Status int `json:"status"`
	// Fault says that a fault took the place of the answer.
	Fault    bool          `json:"fault,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

const unmatched = "unmatched"

func (s *Server) countCall(c Call) {
	if c.Route == "/" || c.Route == "" {
		c.Route = unmatched
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.At = s.opt.Now()
	s.state.calls[c.Route]++
	s.state.history = keepLast(append(s.state.history, c), s.opt.History)
	s.change()
}

// Calls says how often each route was called, failed calls included: "POST /orgs/{org}/hooks" and so on. The control
// API is not counted.
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.state.calls)
}

// CallsTo counts the calls of a method whose route ends in suffix, over all kinds of scope:
// CallsTo("POST", "/actions/runners/generate-jitconfig").
func (s *Server) CallsTo(method, suffix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for route, count := range s.state.calls {
		if strings.HasPrefix(route, method+" ") && strings.HasSuffix(route, suffix) {
			total += count
		}
	}
	return total
}

// RecentCalls are the latest calls, the oldest first.
func (s *Server) RecentCalls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.history)
}

// ResetCalls starts counting anew.
func (s *Server) ResetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.calls = map[string]int{}
	s.state.history = nil
}

// statusRecorder remembers the status of an answer.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (w *statusRecorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusRecorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
