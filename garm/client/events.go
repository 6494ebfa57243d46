package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/garm-operator/garm-operator/garm"
)

// maxFrame bounds an event, in bytes. A pool carries all its instances.
const maxFrame = 16 << 20

const opEvents = "events.Open"

// Stream is an open event stream.
type Stream struct {
	conn *websocket.Conn
	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	lost error
}

// Events opens the event stream and asks for what the filter names. Ctx bounds the opening only.
func (c *Client) Events(ctx context.Context, filter garm.EventFilter) (*Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	var conn *websocket.Conn
	err := c.authenticated(ctx, opEvents, func(token string) (err error) {
		conn, err = c.dial(ctx, token)
		return err
	})
	if err == nil {
		err = subscribe(ctx, conn, filter)
	}
	if err != nil {
		c.config.Metrics.Error(opEvents)
		return nil, err
	}
	alive, stop := context.WithCancel(context.Background())
	s := &Stream{conn: conn, stop: stop}
	s.done.Go(func() { s.ping(alive, c.config.PingInterval, c.config.PongTimeout) })
	return s, nil
}

func (c *Client) dial(ctx context.Context, token string) (*websocket.Conn, error) {
	c.config.Metrics.Request(opEvents)
	conn, resp, err := websocket.Dial(ctx, c.base+"/ws/events", &websocket.DialOptions{
		HTTPClient: c.http,
		HTTPHeader: c.header(token),
	})
	switch {
	case err == nil:
		conn.SetReadLimit(maxFrame)
		return conn, nil
	case resp == nil || resp.StatusCode == http.StatusSwitchingProtocols:
		return nil, transportError(opEvents, err)
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil, undecodable(opEvents, resp.StatusCode, errors.New("the answer is no websocket: is a proxy in between?"))
	}
	var body []byte
	if resp.Body != nil {
		body, _ = io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	}
	return nil, refusal(opEvents, resp.StatusCode, resp.Header, body, []string{token})
}

// subscribe sends the filter; before it the server sends nothing.
func subscribe(ctx context.Context, conn *websocket.Conn, filter garm.EventFilter) error {
	data, err := json.Marshal(filter)
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, data)
	}
	if err != nil {
		_ = conn.CloseNow()
		return transportError(opEvents, err)
	}
	return nil
}

// Next waits for the next event. Any error ends the stream, and so does the end of ctx. A stream whose peer is gone is
// found only while somebody waits here.
func (s *Stream) Next(ctx context.Context) (garm.Event, error) {
	_, data, err := s.conn.Read(ctx)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.lost != nil {
			err = s.lost
		}
		return garm.Event{}, streamError(err)
	}
	var event garm.Event
	if err := json.Unmarshal(data, &event); err != nil || event.EntityType == "" {
		return garm.Event{}, &garm.Error{Kind: garm.KindUndecodable, Op: "events.Next", Err: errors.New("the message is no event")}
	}
	return event, nil
}

// Close ends the stream, and with it a Next that waits. It does not wait for the server.
func (s *Stream) Close() error {
	s.stop()
	_ = s.conn.CloseNow()
	s.done.Wait()
	return nil
}

// ping ends the stream when the server no longer answers.
func (s *Stream) ping(ctx context.Context, interval, patience time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		pong, cancel := context.WithTimeout(ctx, patience)
		err := s.conn.Ping(pong)
		cancel()
		if err == nil {
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) {
			s.mu.Lock()
			s.lost = fmt.Errorf("no answer to a ping in %s: %w", patience, context.DeadlineExceeded)
			s.mu.Unlock()
		}
		_ = s.conn.CloseNow()
		return
	}
}

func streamError(err error) *garm.Error {
	e := transportError("events.Next", err)
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		e.Err = fmt.Errorf("the server ended the stream: %w", closed)
	}
	return e
}
