package githubsim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Fault is a failure to inject.
type Fault struct {
	// Match is a regular expression over "METHOD /path", the path without /api/v3 and without query. Required.
	Match string `json:"match"`
	// Status and Body are the answer; Body is JSON or text, empty for GitHub's usual error body. Status 0 with no Drop
	// only delays: the request is then served as usual.
	Status int         `json:"status,omitempty"`
	Body   string      `json:"body,omitempty"`
	Header http.Header `json:"header,omitempty"`
	// Delay passes before anything else happens, or the client goes.
	Delay Duration `json:"delay,omitempty"`
	// Drop ends the connection without an answer.
	Drop bool `json:"drop,omitempty"`
	// Apply lets the request take effect before its answer is replaced or dropped: the answer that got lost.
	Apply bool `json:"apply,omitempty"`
	// Count is how many requests it meets, then it is gone. 0 means all until it is removed.
	Count int `json:"count,omitempty"`
}

// SecondaryRateLimit is GitHub's answer to a client that is too fast, to count calls that match.
func SecondaryRateLimit(match string, retryAfter time.Duration, count int) Fault {
	return Fault{
		Match: match, Status: http.StatusForbidden, Count: count,
		Header: http.Header{"Retry-After": {strconv.Itoa(int(retryAfter.Seconds()))}},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
			`"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
	}
}

type fault struct {
	Fault
	ID   int64 `json:"id"`
	Hits int   `json:"hits"`
	re   *regexp.Regexp
}

// AddFault puts a fault in force and returns its id. Where several match, the oldest one acts.
func (s *Server) AddFault(f Fault) (int64, error) {
	if f.Match == "" {
		return 0, fmt.Errorf("fault has no match: give a regular expression over method and path, such as %q", "^GET .*/actions/runners$")
	}
	re, err := regexp.Compile(f.Match)
	if err != nil {
		return 0, fmt.Errorf("match of the fault: %w", err)
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return 0, fmt.Errorf("status of the fault is %d: give one from 200 to 599, or none", f.Status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	added := &fault{Fault: f, ID: s.nextID("fault"), re: re}
	s.state.faults = append(s.state.faults, added)
	return added.ID, nil
}

// UnmetFaults are those in force that no call has met.
func (s *Server) UnmetFaults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var unmet []Fault
	for _, f := range s.state.faults {
		if f.Hits == 0 {
			unmet = append(unmet, f.Fault)
		}
	}
	return unmet
}

// RemoveFault ends a fault. One that is gone is no error.
func (s *Server) RemoveFault(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.faults = slices.DeleteFunc(s.state.faults, func(f *fault) bool { return f.ID == id })
}

// ClearFaults ends all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.faults = nil
}

// faultFor is the fault that a request meets, counted down.
func (s *Server) faultFor(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.state.faults {
		if !f.re.MatchString(r.Method + " " + r.URL.Path) {
			continue
		}
		f.Hits++
		if f.Count > 0 && f.Hits >= f.Count {
			s.state.faults = slices.Delete(s.state.faults, i, i+1)
		}
		return &f.Fault
	}
	return nil
}

// answers says whether the fault takes the place of the answer, and does not only delay it.
func (f *Fault) answers() bool { return f != nil && (f.Status != 0 || f.Drop) }

func (f *Fault) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if f.Delay > 0 {
		timer := time.NewTimer(time.Duration(f.Delay))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	if !f.answers() {
		next.ServeHTTP(w, r)
		return
	}
	if f.Apply {
		next.ServeHTTP(discard{}, r)
	}
	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if f.Body == "" {
		writeError(w, &apiError{status: f.Status, Message: http.StatusText(f.Status)})
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body))
}

// discard is the answer that nobody gets.
type discard struct{}

func (d discard) Header() http.Header            { return http.Header{} }
func (d discard) Write(data []byte) (int, error) { return len(data), nil }
func (d discard) WriteHeader(int)                {}

// Duration is a time.Duration that is text in JSON, such as "300ms".
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration as Go writes it.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
