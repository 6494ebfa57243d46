package remotetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

var errStreamClosed = errors.New("event stream closed")

// stream is a queue of events without a bound, as long as it is read.
type stream struct {
	server *Server
	kinds  []garm.EntityType
	queue  []garm.Event
	wake   chan struct{}
	closed bool
}

// Events opens a stream of events of the filter's kinds.
func (s *Server) Events(_ context.Context, filter garm.EventFilter) (remote.EventStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts["Events"]++
	if s.noEvents {
		return nil, Error("Events", 404)
	}
	st := &stream{server: s, wake: make(chan struct{}, 1)}
	for _, c := range filter.Filters {
		st.kinds = append(st.kinds, c.EntityType)
	}
	s.streams[st] = struct{}{}
	return st, nil
}

// Next waits for the next event.
func (st *stream) Next(ctx context.Context) (garm.Event, error) {
	for {
		st.server.mu.Lock()
		if len(st.queue) > 0 {
			e := st.queue[0]
			st.queue = st.queue[1:]
			st.server.mu.Unlock()
			return e, nil
		}
		closed := st.closed
		st.server.mu.Unlock()
		if closed {
			return garm.Event{}, errStreamClosed
		}
		select {
		case <-ctx.Done():
			return garm.Event{}, ctx.Err()
		case <-st.wake:
		}
	}
}

// Close ends the stream.
func (st *stream) Close() error {
	st.server.mu.Lock()
	defer st.server.mu.Unlock()
	st.close()
	return nil
}

func (st *stream) close() {
	delete(st.server.streams, st)
	st.closed = true
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

func (s *Server) dropStreams() {
	for st := range s.streams {
		st.close()
	}
}

// Send sends events as they are, past the event fault.
func (s *Server) Send(events ...garm.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(events)
}

func (s *Server) send(events []garm.Event) {
	for st := range s.streams {
		for _, e := range events {
			if slices.Contains(st.kinds, e.EntityType) {
				st.queue = append(st.queue, e)
			}
		}
		select {
		case st.wake <- struct{}{}:
		default:
		}
	}
}

func (s *Server) emit(kind garm.EntityType, op garm.Operation, payload any) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	events := []garm.Event{{EntityType: kind, Operation: op, Payload: raw}}
	if s.mangle != nil {
		events = s.mangle(events[0])
	}
	s.send(events)
}
