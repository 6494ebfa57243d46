package remote

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// setState enters a state, tells the subscriptions, and logs a change of phase, reason or identity.
func (s *Session) setState(change func(*State)) {
	s.mu.Lock()
	old := s.state
	next := old
	change(&next)
	if next.Phase != old.Phase {
		next.Since = time.Now()
	}
	s.state = next
	s.mu.Unlock()

	moved := next.Phase != old.Phase || next.Identity != old.Identity
	switch {
	case moved:
		s.hub.resync()
	case next.Reason != old.Reason || next.Message != old.Message || !reflect.DeepEqual(next.Controller, old.Controller):
		s.hub.publish(Notice{Kind: KindSession})
	}
	if moved || next.Reason != old.Reason {
		s.opts.Log.Info("GARM session", "server", s.opts.Server, "phase", next.Phase, "reason", next.Reason,
			"message", next.Message, "controllerID", next.Identity.ControllerID, "version", next.Controller.Version)
	}
	if moved || next.Reason != old.Reason || next.Events != old.Events {
		s.opts.Metrics.StateChanged(s.opts.Server, next)
	}
}

func (s *Session) down(reason string, err error) {
	s.setState(func(st *State) {
		st.Phase, st.Reason, st.Message, st.Err, st.Events = PhaseDown, reason, err.Error(), err, false
	})
}

// adopt takes what the server says of itself and returns the view of its identity, a new one if the controller id is.
func (s *Session) adopt(info garm.ControllerInfo) *View {
	identity := Identity{Server: s.opts.Server, ControllerID: info.ControllerID}
	s.mu.Lock()
	view := s.view
	if view == nil || view.identity != identity {
		if view != nil {
			view.cache.retired.Store(true)
		}
		view = &View{identity: identity, session: s, cache: newCache(s.client, s.opts)}
		s.view = view
	}
	s.mu.Unlock()
	return view
}

// reasonOf says why a call made the session go down.
func reasonOf(err error) string {
	switch garm.KindOf(err) {
	case garm.KindUnauthorized:
		return ReasonUnauthorized
	case garm.KindInitRequired:
		return ReasonNotInitialized
	case garm.KindTransport, garm.KindTimeout:
		return ReasonUnreachable
	case garm.KindUnknown:
		if errors.Is(err, context.DeadlineExceeded) {
			return ReasonUnreachable
		}
	}
	return ReasonServerError
}

// suspect is told of a failed call. One that raises doubts about the server makes the session look.
func (s *Session) suspect(err error) {
	switch garm.KindOf(err) {
	case garm.KindNotFound, garm.KindInvalid, garm.KindConflict, garm.KindRateLimited:
		return
	}
	if errors.Is(err, context.Canceled) {
		return
	}
	select {
	case s.doubt <- struct{}{}:
	default:
	}
}
