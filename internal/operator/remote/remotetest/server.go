package remotetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// Server is a GARM server in memory; it implements remote.Client. Its zero value is not usable; see NewServer.
type Server struct {
	mu       sync.Mutex
	info     garm.ControllerInfo
	noURLs   bool
	noTimes  bool
	held     bool
	clock    time.Time
	counts   map[string]int
	fault    func(op string) error
	delay    func(op string) time.Duration
	noEvents bool
	streams  map[*stream]struct{}
	mangle   func(garm.Event) []garm.Event
	nextID   uint

	providers     []garm.Provider
	endpoints     table[garm.Endpoint]
	credentials   table[garm.Credentials]
	repositories  table[garm.Repository]
	organizations table[garm.Organization]
	enterprises   table[garm.Enterprise]
	pools         table[garm.Pool]
	instances     table[garm.Instance]
}

// NewServer returns an empty server of release v0.2.1 with its URLs set and one provider named "sim".
func NewServer() *Server {
	s := &Server{streams: map[*stream]struct{}{}, counts: map[string]int{}}
	s.reset()
	return s
}

// Reset loses the database: no objects, another controller id, all streams closed.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
	s.dropStreams()
}

func (s *Server) reset() {
	version := s.info.Version
	if version == "" {
		version = "v0.2.1"
	}
	s.info = garm.ControllerInfo{
		ControllerID: newUUID(), Hostname: "sim", MetadataURL: "http://garm/metadata", CallbackURL: "http://garm/callbacks",
		WebhookURL: "http://garm/webhooks", Version: version,
	}
	s.clock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.providers = []garm.Provider{{Name: "sim", Type: "external"}}
	s.endpoints, s.credentials = table[garm.Endpoint]{}, table[garm.Credentials]{}
	s.repositories, s.organizations = table[garm.Repository]{}, table[garm.Organization]{}
	s.enterprises, s.pools, s.instances = table[garm.Enterprise]{}, table[garm.Pool]{}, table[garm.Instance]{}
}

// SetVersion sets the reported version. Objects of v0.1.5 carry no times, but instances do.
func (s *Server) SetVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.Version = version
	s.noTimes = version == "v0.1.5"
}

// RequireURLs makes the server refuse all but the controller until its URLs are set by UpdateController.
func (s *Server) RequireURLs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noURLs = true
}

// SetFault makes calls fail: fault is asked with the method's name, such as "CreatePool"; nil means no failure.
func (s *Server) SetFault(fault func(op string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// SetDelay makes calls take time.
func (s *Server) SetDelay(delay func(op string) time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = delay
}

// SetEventFault replaces each event by those that mangle returns: none, more, or others. Nil sends it as it is.
func (s *Server) SetEventFault(mangle func(garm.Event) []garm.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mangle = mangle
}

// RefuseEvents makes Events fail, as behind a proxy without websockets, and closes open streams.
func (s *Server) RefuseEvents(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noEvents = refuse
	if refuse {
		s.dropStreams()
	}
}

// DropStreams closes the open event streams.
func (s *Server) DropStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropStreams()
}

// Counts returns how often each method was called.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// Requests returns how many calls were made in all, but for those of Events.
func (s *Server) Requests() int {
	n := 0
	for op, c := range s.Counts() {
		if op != "Events" {
			n += c
		}
	}
	return n
}

// ControllerID returns the id of the present database.
func (s *Server) ControllerID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info.ControllerID
}

// enter counts a call, lets it take its time and fails it on demand. The server is locked when it returns no error.
func (s *Server) enter(ctx context.Context, op string, needsURLs bool) error {
	s.mu.Lock()
	s.counts[op]++
	delay, fault := s.delay, s.fault
	s.mu.Unlock()
	if delay != nil {
		if d := delay(op); d > 0 {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return &garm.Error{Kind: garm.KindTimeout, Op: op, Err: err}
	}
	if fault != nil {
		if err := fault(op); err != nil {
			return err
		}
	}
	s.mu.Lock()
	if needsURLs && s.noURLs {
		s.mu.Unlock()
		return &garm.Error{Kind: garm.KindURLsRequired, Op: op, Status: 409, Title: garm.URLsRequired}
	}
	return nil
}

// SetClockBack makes the server's times go on from earlier ones.
func (s *Server) SetClockBack(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(-by)
}

// tick returns the server's next time.
func (s *Server) tick() time.Time {
	s.clock = s.clock.Add(time.Millisecond)
	return s.clock
}

// stamp is tick for objects that have no time in v0.1.5.
func (s *Server) stamp() time.Time {
	if s.noTimes {
		return time.Time{}
	}
	return s.tick()
}

// Error returns an error as a client would for a status; 0 is a broken connection.
func Error(op string, status int) error {
	kind, ok := map[int]garm.ErrorKind{
		0: garm.KindTransport, 400: garm.KindInvalid, 401: garm.KindUnauthorized, 404: garm.KindNotFound,
		409: garm.KindConflict, 429: garm.KindRateLimited,
	}[status]
	if !ok && status >= 500 {
		kind = garm.KindUnavailable
	}
	return &garm.Error{Kind: kind, Op: op, Status: status}
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
