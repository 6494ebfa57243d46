package remote

import (
	"context"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

const (
	// subscribePatience is how long the first lists wait for the event stream to open.
	subscribePatience = 3 * time.Second
	// maxStreamBackoff is the longest wait between attempts to open the event stream, behind a proxy without it.
	maxStreamBackoff = 5 * time.Minute
	// settledStream is how long a stream has to live for its end to be taken for an accident.
	settledStream = time.Minute
)

// eventFilter asks for what the cache keeps.
func eventFilter() garm.EventFilter {
	return garm.EventFilter{Filters: []garm.EventClause{
		{EntityType: garm.EntityTypeEndpoint},
		{EntityType: garm.EntityTypeCredentials},
		{EntityType: garm.EntityTypeRepository},
		{EntityType: garm.EntityTypeOrganization},
		{EntityType: garm.EntityTypeEnterprise},
		{EntityType: garm.EntityTypePool},
		{EntityType: garm.EntityTypeInstance},
		{EntityType: garm.EntityTypeController},
	}}
}

// follow keeps the event stream open. It closes subscribed when lists may start: after the first attempt to subscribe,
// or when that takes too long.
func (s *Session) follow(ctx context.Context, view *View, subscribed chan struct{}) {
	var once sync.Once
	attempted := func() { once.Do(func() { close(subscribed) }) }
	patience := time.AfterFunc(subscribePatience, attempted)
	defer patience.Stop()

	for failures := 0; ctx.Err() == nil; {
		opened := time.Now()
		stream, err := s.client.Events(ctx, eventFilter())
		if err == nil {
			err = s.listen(ctx, view, stream, attempted)
		}
		attempted()
		if ctx.Err() != nil {
			return
		}
		if time.Since(opened) >= settledStream {
			failures = 0
		}
		failures++
		s.opts.Log.V(1).Info("no event stream; polling", "server", s.opts.Server, "error", err.Error())
		s.Poke()
		wait(ctx, backoff(failures, maxStreamBackoff), nil)
	}
}

// listen applies the events of a stream until it ends. Lists may start once the server has taken in the filter: what
// happens from then on is told.
func (s *Session) listen(ctx context.Context, view *View, stream EventStream, attempted func()) error {
	ended := make(chan error, 1)
	go func() { ended <- s.consume(ctx, view, stream) }()
	if p, ok := stream.(interface{ Ping(context.Context) error }); ok {
		patient, cancel := context.WithTimeout(ctx, subscribePatience)
		_ = p.Ping(patient)
		cancel()
	}
	s.setEvents(view, true)
	attempted()
	err := <-ended
	_ = stream.Close()
	s.setEvents(view, false)
	return err
}

// setEvents says whether events arrive. When they begin to, everything is listed once more: what happened before was
// missed.
func (s *Session) setEvents(view *View, on bool) {
	for _, k := range view.cache.kinds() {
		if k.name() == KindProvider {
			continue
		}
		k.plan().setEvents(on)
		if on && k.known() {
			k.plan().markDirty(true)
		}
	}
	s.setState(func(st *State) { st.Events = on })
}

// consume applies events until the stream ends. Applying waits for nothing but memory, so the stream is always read.
func (s *Session) consume(ctx context.Context, view *View, stream EventStream) error {
	for {
		event, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		s.handle(view, event)
	}
}

func (s *Session) handle(view *View, event garm.Event) {
	if event.EntityType == garm.EntityTypeController {
		s.Poke()
		return
	}
	k := view.cache.of(event.EntityType)
	if k == nil {
		return
	}
	result, notices, err := k.event(event.Operation, event.Payload)
	if err != nil {
		s.opts.Log.V(1).Info("unreadable event", "server", s.opts.Server, "kind", k.name(), "error", err.Error())
	}
	if result == EventDirty || result == EventInvalid || (result == EventApplied && entity(k.name())) {
		k.plan().markDirty(false)
	}
	if result == EventDoubt {
		k.plan().markDoubt()
	}
	s.opts.Metrics.EventReceived(s.opts.Server, k.name(), event.Operation, result)
	s.hub.publish(notices...)
}
