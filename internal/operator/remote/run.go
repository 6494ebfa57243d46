package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

const (
	// maxConnectBackoff is the longest wait between attempts to reach a server that does not answer.
	maxConnectBackoff = 15 * time.Second
	// maxRefusedBackoff is the same for one that refuses the user or is too old.
	maxRefusedBackoff = time.Minute
	// minProbeGap is the least time between two looks at a server that calls raised doubts about.
	minProbeGap = 5 * time.Second
)

// Start runs the session until ctx ends. It never fails: a server that is down is a state.
func (s *Session) Start(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		view, err := s.connect(ctx)
		if view != nil {
			failures = 0
			s.serve(ctx, view)
			continue
		}
		failures++
		longest := maxConnectBackoff
		if r := s.State().Reason; r == ReasonUnauthorized || r == ReasonUnsupportedVersion {
			longest = maxRefusedBackoff
		}
		if rest := retryAfter(err); rest > 0 {
			wait(ctx, rest, nil)
			continue
		}
		wait(ctx, backoff(failures, longest), s.poke)
	}
	return nil
}

// connect makes one attempt and returns the view of a server that is ready, or why it is not.
func (s *Session) connect(ctx context.Context) (*View, error) {
	if err := s.controller.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.controller.Release(1)
	info, err := s.client.GetController(ctx)
	if err == nil && info.ControllerID == "" {
		err = errors.New("the answer of GET /controller has no controller id: is this address a GARM server?")
	}
	if err != nil {
		if ctx.Err() == nil {
			s.down(reasonOf(err), err)
		}
		return nil, err
	}
	warning, err := checkVersion(info.Version)
	if err != nil {
		s.down(ReasonUnsupportedVersion, err)
		return nil, err
	}
	old := s.View()
	view := s.adopt(info)
	if warning != "" && view != old {
		s.opts.Log.Info(warning, "server", s.opts.Server)
	}
	err = s.refresh(ctx, view.cache.providers)
	switch {
	case err == nil:
		s.setState(func(st *State) {
			*st = State{Phase: PhaseReady, Identity: view.identity, Controller: info, Since: st.Since}
		})
		return view, nil
	case garm.KindOf(err) == garm.KindURLsRequired:
		s.setState(func(st *State) {
			*st = State{
				Phase: PhaseURLsRequired, Reason: string(PhaseURLsRequired), Identity: view.identity, Controller: info,
				Message: "GARM refuses all work until its metadata, callback and webhook URLs are set", Since: st.Since,
			}
		})
	case ctx.Err() == nil:
		s.setState(func(st *State) { st.Identity, st.Controller = view.identity, info })
		s.down(reasonOf(err), err)
	}
	return nil, err
}

// serve keeps the view up to date until the server is in doubt, has another controller id, or ctx ends.
func (s *Session) serve(ctx context.Context, view *View) {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel()

	subscribed := make(chan struct{})
	tasks.Go(func() { s.follow(ctx, view, subscribed) })
	for _, k := range view.cache.kinds() {
		if k.known() && k.name() != KindProvider {
			k.plan().markDirty(true)
		}
		tasks.Go(func() {
			select {
			case <-subscribed:
				s.keep(ctx, k)
			case <-ctx.Done():
			}
		})
	}
	tasks.Go(func() { s.sweep(ctx, view) })
	s.watch(ctx, view)
}

// watch looks at the controller at intervals, when asked to, and when a call raised doubts, for as long as it is well.
func (s *Session) watch(ctx context.Context, view *View) {
	probed := time.Now()
	select {
	case <-s.doubt:
	default:
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-s.poke:
		case <-s.doubt:
			wait(ctx, minProbeGap-time.Since(probed), nil)
		case <-time.After(s.opts.EntityInterval):
			if s.State().Events {
				wait(ctx, s.budget.take(time.Now()), nil)
			}
		}
		probed = time.Now()
		err := s.look(ctx, view)
		switch {
		case ctx.Err() != nil, errors.Is(err, ErrStaleView):
			return
		case retryAfter(err) > 0:
			// It is there, and says when to come back.
			wait(ctx, retryAfter(err), nil)
		case err != nil:
			s.down(reasonOf(err), err)
			return
		}
	}
}

// look reads the controller once.
func (s *Session) look(ctx context.Context, view *View) error {
	if err := s.controller.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.controller.Release(1)
	info, err := s.client.GetController(ctx)
	if err != nil {
		return err
	}
	if info.ControllerID != view.identity.ControllerID {
		s.opts.Log.Info("GARM has another controller id: everything is read anew", "server", s.opts.Server,
			"was", view.identity.ControllerID, "is", info.ControllerID)
		return ErrStaleView
	}
	s.setState(func(st *State) { st.Controller = info })
	return nil
}

// keep lists a kind whenever its schedule says so.
func (s *Session) keep(ctx context.Context, k kept) {
	plan := k.plan()
	for ctx.Err() == nil {
		now := time.Now()
		due, periodic := plan.next()
		if rest := due.Sub(now); rest > 0 {
			wait(ctx, rest, plan.wake)
			continue
		}
		// The doubt is taken back before the store is asked, so that one that comes meanwhile counts.
		if !periodic && plan.clearDoubt() && !k.doubtful() {
			continue
		}
		if periodic && s.State().Events {
			if rest := s.budget.take(now); rest > 0 {
				wait(ctx, rest, plan.wake)
				continue
			}
		}
		if err := s.refresh(ctx, k); err != nil && ctx.Err() == nil {
			s.opts.Log.V(1).Info("list failed; what is known is kept", "server", s.opts.Server, "kind", k.name(), "error", err.Error())
			s.suspect(err)
		}
	}
}

// refresh lists a kind once. Lists of one kind never overlap: the one that began first might else be applied last.
func (s *Session) refresh(ctx context.Context, k kept) error {
	plan := k.plan()
	plan.listing.Lock()
	defer plan.listing.Unlock()
	start := time.Now()
	plan.begin(start)
	notices, n, err := k.load(ctx)
	plan.end(time.Now(), err)
	s.opts.Metrics.Listed(s.opts.Server, k.name(), n, time.Since(start), err)
	plan.setDegraded(k.degraded(), time.Now())
	if view := s.View(); view.Synced() && view.cache.complete.CompareAndSwap(false, true) {
		notices = append(notices, Notice{Kind: KindSession}) // who waits for all kinds need not subscribe to all
	}
	s.hub.publish(notices...)
	return err
}

// wait waits for a time, or until woken.
func wait(ctx context.Context, d time.Duration, woken <-chan struct{}) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-timer.C:
	}
}
