package garmproxy

import (
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"
)

// Fault makes requests fail or wait.
type Fault struct {
	// Method and Template choose the requests; empty means any. Template is that of Key, and may have the wildcards of
	// path.Match: "/organizations/{id}/pools" or "/*/{id}/pools".
	Method   string
	Template string
	// Times is how many requests are hit before the fault ends; 0 means all until it is removed.
	Times int
	// Share is the part of the requests that is hit, by chance; 0 means all.
	Share float64

	// Delay holds a request back before anything else.
	Delay time.Duration
	// Status is answered instead of what the server says; 0 leaves the answer as it is, unless Drop or Hang is set.
	Status int
	// Body is the body to Status; empty means the error body of GARM for it.
	Body string
	// RetryAfter is the header of that name, in seconds.
	RetryAfter string
	// Drop breaks the connection without an answer.
	Drop bool
	// Hang gives no answer until the client gives up.
	Hang bool
	// Late lets the server do its work first: only its answer is lost.
	Late bool
}

// Inject adds a fault and returns what removes it. The first one that matches a request hits it.
func (p *Proxy) Inject(f Fault) (remove func()) { return p.faults.add(f) }

// ClearFaults removes all faults.
func (p *Proxy) ClearFaults() { p.faults.clear() }

type faults struct {
	mu  sync.Mutex
	all []*active
}

type active struct {
	Fault
	hits int
}

func (fs *faults) add(f Fault) func() {
	a := &active{Fault: f}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = append(fs.all, a)
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.all = slices.DeleteFunc(fs.all, func(b *active) bool { return a == b })
	}
}

func (fs *faults) clear() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = nil
}

func (fs *faults) match(method, template string) (Fault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, a := range fs.all {
		if a.Times > 0 && a.hits >= a.Times {
			continue
		}
		if a.Method != "" && a.Method != method {
			continue
		}
		if ok, _ := path.Match(a.Template, template); a.Template != "" && a.Template != template && !ok {
			continue
		}
		if a.Share > 0 && rand.Float64() >= a.Share {
			continue
		}
		a.hits++
		return a.Fault, true
	}
	return Fault{}, false
}

// serve answers a request that the fault hits.
func (f Fault) serve(w http.ResponseWriter, r *http.Request, server http.Handler) {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	if f.Status == 0 && !f.Drop && !f.Hang {
		server.ServeHTTP(w, r)
		return
	}
	if f.Late {
		server.ServeHTTP(&nowhere{header: http.Header{}}, r)
	}
	switch {
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Drop:
		panic(http.ErrAbortHandler)
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	body := f.Body
	if body == "" {
		body = errorBody(f.Status)
	}
	writeJSON(w, f.Status, body)
}

func errorBody(status int) string {
	switch status {
	case http.StatusNotFound:
		return `{"error":"Not Found","details":"not found"}`
	case http.StatusUnauthorized:
		return `{"error":"Authentication failed","details":""}`
	case http.StatusBadRequest:
		return `{"error":"Bad Request","details":"injected"}`
	case http.StatusConflict:
		return `{"error":"Conflict","details":"injected"}`
	default:
		return `{"error":"Server error","details":""}`
	}
}

// nowhere swallows an answer.
type nowhere struct{ header http.Header }

// Header implements http.ResponseWriter.
func (n *nowhere) Header() http.Header { return n.header }

// Write implements http.ResponseWriter.
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (n *nowhere) WriteHeader(int) {}
