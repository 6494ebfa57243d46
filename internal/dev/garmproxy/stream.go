package garmproxy

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// maxFrame bounds a frame of the event stream.
const maxFrame = 64 << 20

// EventFaults say how the event stream is mistreated. Shares are between 0 and 1.
type EventFaults struct {
	// Drop, Duplicate and Reorder are the shares of events that get lost, come twice, or come after a later one.
	Drop, Duplicate, Reorder float64
	// Delay holds every event back.
	Delay time.Duration
	// Refuse is the status that the stream is refused with, as by a proxy without websockets; 0 lets it open. It does not
	// close open streams.
	Refuse int
	// Seed makes the choice of events repeatable.
	Seed uint64
}

// SetEventFaults mistreats the event streams from now on; the zero value leaves them alone.
func (p *Proxy) SetEventFaults(f EventFaults) {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	p.streams.faults = f
	p.streams.rng = rand.New(rand.NewPCG(f.Seed, f.Seed))
}

// HalfOpen makes the streams that are open now dead without closing them: nothing comes, not even an answer to a ping.
func (p *Proxy) HalfOpen() {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	for s := range p.streams.open {
		s.freeze()
	}
}

// CloseStreams breaks the event streams that are open now.
func (p *Proxy) CloseStreams() { p.streams.closeAll() }

// Streams returns how many event streams are open.
func (p *Proxy) Streams() int {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	return len(p.streams.open)
}

type streams struct {
	mu     sync.Mutex
	open   map[*stream]struct{}
	faults EventFaults
	rng    *rand.Rand
}

func (s *streams) init() {
	s.open = map[*stream]struct{}{}
	s.rng = rand.New(rand.NewPCG(0, 0))
}

func (s *streams) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.open {
		st.cancel()
	}
}

func (s *streams) refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.Refuse
}

// stream is one client's event stream.
type stream struct {
	client, server *websocket.Conn
	cancel         context.CancelFunc
	frozen         chan struct{}
	once           sync.Once
	held           []byte
}

func (st *stream) isFrozen() bool {
	select {
	case <-st.frozen:
		return true
	default:
		return false
	}
}

func (st *stream) freeze() { st.once.Do(func() { close(st.frozen) }) }

// serveEvents relays an event stream.
func (p *Proxy) serveEvents(w http.ResponseWriter, r *http.Request) {
	if status := p.streams.refused(); status != 0 {
		writeJSON(w, status, errorBody(status))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	upstream := *p.target
	upstream.Path = r.URL.Path
	server, resp, err := websocket.Dial(ctx, upstream.String(), &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": r.Header.Values("Authorization")},
	})
	if err != nil {
		p.refuse(w, resp)
		return
	}
	defer func() { _ = server.CloseNow() }()
	st := &stream{server: server, cancel: cancel, frozen: make(chan struct{})}
	client, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true,
		OnPingReceived:     func(context.Context, []byte) bool { return !st.isFrozen() },
	})
	if err != nil {
		return
	}
	defer func() { _ = client.CloseNow() }()
	server.SetReadLimit(maxFrame)
	client.SetReadLimit(maxFrame)

	st.client = client
	p.streams.mu.Lock()
	p.streams.open[st] = struct{}{}
	p.streams.mu.Unlock()
	defer func() {
		p.streams.mu.Lock()
		delete(p.streams.open, st)
		p.streams.mu.Unlock()
	}()

	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		st.relayFilter(ctx)
	})
	both.Go(func() {
		defer cancel()
		p.relayEvents(ctx, st)
	})
	both.Wait()
}

// refuse passes on why the server opens no stream.
func (p *Proxy) refuse(w http.ResponseWriter, resp *http.Response) {
	if resp == nil || resp.StatusCode < 400 {
		panic(http.ErrAbortHandler)
	}
	body := make([]byte, 1024)
	n := 0
	if resp.Body != nil {
		n, _ = resp.Body.Read(body)
	}
	writeJSON(w, resp.StatusCode, string(body[:n]))
}

// relayFilter passes on what the client sends. It reads on, and so answers a ping, only when the server has taken in
// what came before.
func (st *stream) relayFilter(ctx context.Context) {
	for {
		kind, data, err := st.client.Read(ctx)
		if err != nil {
			return
		}
		if st.isFrozen() {
			continue
		}
		if err := st.server.Write(ctx, kind, data); err != nil {
			return
		}
		if err := st.server.Ping(ctx); err != nil {
			return
		}
	}
}

// relayEvents passes on what the server sends, as far as the faults let it.
func (p *Proxy) relayEvents(ctx context.Context, st *stream) {
	for {
		kind, data, err := st.server.Read(ctx)
		if err != nil {
			return
		}
		if st.isFrozen() {
			continue
		}
		frames, delay := p.mistreat(st, data)
		if delay > 0 {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return
			}
		}
		for _, frame := range frames {
			if err := st.client.Write(ctx, kind, frame); err != nil {
				return
			}
		}
	}
}

// mistreat returns what becomes of an event.
func (p *Proxy) mistreat(st *stream, data []byte) ([][]byte, time.Duration) {
	data, ok := p.speaks().event(data)
	if !ok {
		return nil, 0
	}
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	f, rng := p.streams.faults, p.streams.rng
	if rng.Float64() < f.Drop {
		return nil, f.Delay
	}
	if st.held == nil && rng.Float64() < f.Reorder {
		st.held = data
		return nil, f.Delay
	}
	frames := [][]byte{data}
	if rng.Float64() < f.Duplicate {
		frames = append(frames, data)
	}
	if st.held != nil {
		frames = append(frames, st.held)
		st.held = nil
	}
	return frames, f.Delay
}
