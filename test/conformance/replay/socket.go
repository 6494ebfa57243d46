package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	dialTimeout = 10 * time.Second
	// settle is the time that a server gets to act on a frame: the protocol has no answer to wait for.
	settle = 300 * time.Millisecond
	// expectWait is how long frames that are due may take; quiet is how long none may come after them, and where none
	// are due.
	expectWait = 3 * time.Second
	quiet      = time.Second
	frameLimit = 8 << 20
)

// socket is an open websocket; a goroutine reads it until it ends.
type socket struct {
	conn   *websocket.Conn
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	frames []any // those that no step has seen
	closed bool
	code   int
	reason string
}

func (s *socket) read(ctx context.Context) {
	defer close(s.done)
	for {
		kind, data, err := s.conn.Read(ctx)
		s.mu.Lock()
		if err != nil {
			s.closed = true
			var end websocket.CloseError
			if errors.As(err, &end) {
				s.code, s.reason = int(end.Code), end.Reason
			}
			s.mu.Unlock()
			return
		}
		if kind == websocket.MessageText {
			_, value := decode(string(data))
			s.frames = append(s.frames, value)
		}
		s.mu.Unlock()
	}
}

func (s *socket) seen() (frames int, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.frames), s.closed
}

// step replays one step of a websocket.
func (r *Replayer) step(ctx context.Context, e Exchange) []Difference {
	if e.WS == "open" {
		return r.openSocket(ctx, e)
	}
	s := r.sockets[e.ID]
	if s == nil {
		if e.WS == "close" {
			return nil
		}
		return notSent(fmt.Errorf("websocket %s is not open", e.ID))
	}
	switch e.WS {
	case "send":
		if err := s.conn.Write(ctx, websocket.MessageText, []byte(e.Frame)); err != nil {
			return notSent(err)
		}
		pause(ctx, settle)
	case "expect":
		return r.expectFrames(ctx, s, e)
	case "close":
		r.closeSocket(e.ID)
	}
	return nil
}

func (r *Replayer) openSocket(ctx context.Context, e Exchange) []Difference {
	header, err := r.headers(e)
	if err != nil {
		return notSent(err)
	}
	path, err := fillText(e.Path, r.lookup)
	if err != nil {
		return notSent(err)
	}
	if e.Query != "" {
		path += "?" + e.Query
	}
	dialing, stop := context.WithTimeout(ctx, dialTimeout)
	defer stop()
	conn, resp, err := websocket.Dial(dialing, "ws"+strings.TrimPrefix(r.options.URL, "http")+path, &websocket.DialOptions{HTTPHeader: header})
	got := answer{}
	if resp != nil {
		got.status, got.contentType = resp.StatusCode, resp.Header.Get("Content-Type")
	}
	if err != nil {
		if resp != nil && resp.Body != nil {
			data, _ := io.ReadAll(resp.Body) // what there is of a refusal
			got.text = string(data)
			_ = resp.Body.Close()
		}
		if got.status == http.StatusSwitchingProtocols {
			return notSent(err)
		}
		return judgeOpening(e, got)
	}
	conn.SetReadLimit(frameLimit)
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &socket{conn: conn, cancel: cancel, done: make(chan struct{})}
	r.sockets[e.ID] = s
	go s.read(reading)
	return judgeOpening(e, got)
}

func judgeOpening(e Exchange, got answer) []Difference {
	if got.status != e.Status {
		return differ(Status, "$", "want %d, got %d %s", e.Status, got.status, short(got.text))
	}
	return nil
}

// expectFrames compares the frames since the last step, in any order, and whether the server closed.
func (r *Replayer) expectFrames(ctx context.Context, s *socket, e Exchange) []Difference {
	due := time.Now().Add(quiet)
	if len(e.Frames) > 0 || e.Closed {
		due = time.Now().Add(expectWait)
	}
	for time.Now().Before(due) {
		frames, closed := s.seen()
		if closed || len(e.Frames) > 0 && frames > len(e.Frames) {
			break
		}
		if !e.Closed && len(e.Frames) > 0 && frames == len(e.Frames) {
			pause(ctx, settle) // one too many would follow
			break
		}
		if !pause(ctx, 20*time.Millisecond) {
			break
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.frames
	s.frames = nil
	want := make([]any, len(e.Frames))
	for i, frame := range e.Frames {
		_, want[i] = decode(string(frame))
		var text string
		if json.Unmarshal(frame, &text) == nil {
			want[i] = text
		}
	}
	c := comparer{strict: r.options.Strict, anyDetails: r.options.AnyDetails, volatile: append([]string{"pool_manager_status", "events"}, e.Volatile...)}
	all := c.compareLists(want, got, r.bound, "frames")
	switch {
	case s.closed != e.Closed:
		all = append(all, Difference{Shape, "close", fmt.Sprintf("want closed=%t, got %t", e.Closed, s.closed)})
	case s.closed && (s.code != e.CloseCode || s.reason != e.CloseReason):
		all = append(all, Difference{Value, "close", fmt.Sprintf("want %d %q, got %d %q", e.CloseCode, e.CloseReason, s.code, s.reason)})
	}
	return all
}

func (r *Replayer) closeSocket(id string) {
	s := r.sockets[id]
	delete(r.sockets, id)
	s.cancel()
	_ = s.conn.CloseNow()
	<-s.done
}
