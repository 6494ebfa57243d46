package rest

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	writeWait = 10 * time.Second
	pongWait  = 60 * time.Second
	pingEvery = pongWait * 9 / 10
)

// Reasons to end a connection that clients can act on.
const (
	reasonBehind  = "changes were missed; read everything anew"
	reasonExpired = "the token has expired"
	reasonUser    = "the user has changed"
)

// accept makes a websocket of a request. Pages of other origins have to be allowed; programs send no origin.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		OriginPatterns: s.CORSOrigins, InsecureSkipVerify: slices.Contains(s.CORSOrigins, "*"), CompressionMode: websocket.CompressionDisabled,
	})
	if err == nil {
		conn.SetReadLimit(maxFrame)
	}
	return conn, err
}

// stream serves one websocket client until it goes, its token expires or its user changes.
type stream struct {
	server  *Server
	conn    *websocket.Conn
	request *http.Request
}

// read passes the client's frames on until the connection ends, and then ends the stream. Without a queue for them they
// are dropped.
func (s stream) read(ctx context.Context, end context.CancelFunc, frames chan<- []byte) {
	defer end()
	for {
		kind, frame, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText || frames == nil {
			continue
		}
		select {
		case frames <- frame:
		case <-ctx.Done():
			return
		}
	}
}

// ping keeps the connection alive, and ends the stream where the client does not answer.
func (s stream) ping(ctx context.Context, end context.CancelFunc) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		wait, cancel := context.WithTimeout(ctx, pongWait)
		err := s.conn.Ping(wait)
		cancel()
		if err != nil {
			end()
			return
		}
	}
}

func (s stream) write(ctx context.Context, frame []byte) error {
	wait, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	return s.conn.Write(wait, websocket.MessageText, frame)
}

// expiry fires when the token of the request does.
func (s stream) expiry() *time.Timer {
	return time.NewTimer(time.Until(claimsOf(s.request).ExpiresAt.Time))
}

// endsUser says whether a change makes the token of the request void.
func (s stream) endsUser(c model.Change) bool {
	user, ok := c.Object.(model.User)
	claims := claimsOf(s.request)
	return ok && user.ID == claims.User && (c.Operation == model.OpDelete || !user.Enabled || user.Generation != claims.Generation)
}

// followEvents serves /ws/events.
func (s *Server) followEvents(w http.ResponseWriter, r *http.Request) {
	// The subscription begins before the handshake ends: what a client changes once it is connected is never missed.
	feed := s.Hub.Subscribe(0)
	defer feed.Close()
	conn, err := s.accept(w, r)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }() // it may be closed already
	t := stream{s, conn, r}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	frames := make(chan []byte)
	go t.read(ctx, end, frames)
	go t.ping(ctx, end)
	code, reason := t.events(ctx, frames, feed.Changes())
	_ = conn.Close(code, reason) // the client may be gone
}

// events sends the changes that the client's latest filter selects, and returns why it stopped.
func (s stream) events(ctx context.Context, frames <-chan []byte, changes <-chan model.Change) (websocket.StatusCode, string) {
	expired := s.expiry()
	defer expired.Stop()
	var selected *filter
	for {
		select {
		case <-ctx.Done():
			return websocket.StatusGoingAway, ""
		case <-expired.C:
			return websocket.StatusPolicyViolation, reasonExpired
		case frame := <-frames:
			f, ok, err := parseFilter(frame)
			if err != nil {
				return websocket.StatusNormalClosure, ""
			}
			if ok {
				selected = f
			}
		case change, ok := <-changes:
			if !ok {
				return websocket.StatusTryAgainLater, reasonBehind
			}
			if s.endsUser(change) {
				return websocket.StatusPolicyViolation, reasonUser
			}
			frame, err := s.server.frame(change, selected)
			if err != nil {
				s.server.log.Error("An event cannot be encoded", "error", err)
				return websocket.StatusInternalError, reasonBehind
			}
			if frame == nil {
				continue
			}
			if err := s.write(ctx, frame); err != nil {
				return websocket.StatusGoingAway, ""
			}
		}
	}
}

// followLog serves /ws/logs.
func (s *Server) followLog(w http.ResponseWriter, r *http.Request) {
	if s.Logs == nil {
		s.fail(w, r, model.Invalid("log streamer is disabled; set logging.enable_log_streamer"))
		return
	}
	feed := s.Hub.Subscribe(0)
	defer feed.Close()
	lines, stop := s.Logs.Follow()
	defer stop()
	conn, err := s.accept(w, r)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }() // it may be closed already
	t := stream{s, conn, r}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	go t.read(ctx, end, nil)
	go t.ping(ctx, end)
	code, reason := t.lines(ctx, lines, feed.Changes())
	_ = conn.Close(code, reason) // the client may be gone
}

func (s stream) lines(ctx context.Context, lines <-chan []byte, changes <-chan model.Change) (websocket.StatusCode, string) {
	expired := s.expiry()
	defer expired.Stop()
	for {
		select {
		case <-ctx.Done():
			return websocket.StatusGoingAway, ""
		case <-expired.C:
			return websocket.StatusPolicyViolation, reasonExpired
		case change, ok := <-changes:
			if !ok {
				return websocket.StatusTryAgainLater, reasonBehind
			}
			if s.endsUser(change) {
				return websocket.StatusPolicyViolation, reasonUser
			}
		case line, ok := <-lines:
			if !ok {
				return websocket.StatusTryAgainLater, "lines were missed"
			}
			if err := s.write(ctx, line); err != nil {
				return websocket.StatusGoingAway, ""
			}
		}
	}
}
