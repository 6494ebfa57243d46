package mirror

import (
	"time"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// outageGrace is how long a resource that is in step keeps its status while the server is away: a restart of the server is
// no news for every resource.
const outageGrace = time.Minute

// session says whether the server can be worked with, and if not, what to tell.
func (e *Engine[O, R]) session(p *Pass[O]) Outcome {
	state := e.deps.Session.State()
	if e.kind.Fit(state) && p.View != nil {
		if !state.Ready() || p.View.Synced() {
			return Outcome{}
		}
		if rest := outageGrace - time.Since(state.Since); rest > 0 {
			return Outcome{Class: Waiting, Silent: true, After: rest}
		}
		return Outcome{Class: Waiting, Reason: v1beta1.ReasonGarmUnavailable, Message: "GARM's objects could not be listed yet", After: outageGrace}
	}
	return unavailable(state, status.IsReady(p.Object), time.Now())
}

func unavailable(state remote.State, ready bool, now time.Time) Outcome {
	o := Outcome{Class: Waiting, Reason: v1beta1.ReasonGarmUnavailable, Message: state.Message}
	switch state.Phase {
	case remote.PhaseURLsRequired:
		o.Reason = v1beta1.ReasonControllerURLsMissing
		return o
	case remote.PhaseConnecting:
		o.Message = "no answer from GARM yet"
		o.Silent = true
		o.After = outageGrace
		return o
	}
	if state.Reason != "" {
		o.Message = state.Reason + ": " + state.Message
	}
	if rest := outageGrace - now.Sub(state.Since); ready && rest > 0 {
		o.Silent, o.After = true, rest+time.Second
	}
	return o
}
