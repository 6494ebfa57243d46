package mirror

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// Verb is what was being done when a call failed.
type Verb int

// Verbs of a pass.
const (
	Resolving Verb = iota
	Observing
	Creating
	Updating
	Deleting
)

const (
	// soon is when a pass is repeated whose ground has moved.
	soon = 200 * time.Millisecond
	// refusedRetry is how long a refusal that may pass is left alone when nothing wakes the resource.
	refusedRetry = 30 * time.Second
	// loginRetry is the same for a server that refuses the operator's login; the session tries by itself, too.
	loginRetry = time.Minute
)

// Classify turns the error of a step into an outcome. It is the one place that knows what errors mean.
func Classify(verb Verb, err error) Outcome {
	if err == nil {
		return Outcome{}
	}
	if o, ok := asOutcome(err); ok {
		return o
	}
	switch {
	case errors.Is(err, remote.ErrStaleView), errors.Is(err, context.Canceled), apierrors.IsConflict(err):
		return Outcome{Class: Waiting, After: soon, Silent: true, Err: err}
	case errors.Is(err, remote.ErrNotReady):
		return Outcome{Class: Waiting, After: refusedRetry, Silent: true, Err: err}
	}
	var e *garm.Error
	if !errors.As(err, &e) {
		return Outcome{Class: Transient, Reason: v1beta1.ReasonReconcileError, Message: err.Error(), Err: err}
	}
	o := Outcome{Class: Transient, Reason: v1beta1.ReasonGarmAPIError, Message: e.Error(), Err: err}
	if e.Kind == garm.KindTransport || e.Kind == garm.KindTimeout {
		// The cause names ports that differ each time; a status would never come to rest.
		o.Message = e.Op + ": no answer from the GARM server (" + e.Kind.String() + ")"
	}
	if verb == Deleting {
		o.Reason = v1beta1.ReasonDeletionFailed
	}
	switch e.Kind {
	case garm.KindInvalid:
		if verb == Deleting {
			return Outcome{Class: Waiting, Reason: v1beta1.ReasonInUse, Message: e.Error(), After: refusedRetry, Err: err}
		}
		return Outcome{Class: Terminal, Reason: v1beta1.ReasonInvalidSpec, Message: e.Error(), Err: err}
	case garm.KindConflict:
		if verb == Deleting {
			return Outcome{Class: Waiting, Reason: v1beta1.ReasonDeletionFailed, Message: e.Error(), After: refusedRetry, Err: err}
		}
	case garm.KindUnauthorized, garm.KindInitRequired:
		return Outcome{Class: Waiting, Reason: v1beta1.ReasonGarmUnavailable, Message: e.Error(), After: loginRetry, Err: err}
	case garm.KindURLsRequired:
		return Outcome{Class: Waiting, Reason: v1beta1.ReasonControllerURLsMissing, Message: e.Error(), After: loginRetry, Err: err}
	case garm.KindRateLimited:
		after := max(time.Duration(e.RetryAfterSeconds)*time.Second, time.Second)
		return Outcome{Class: Waiting, Reason: v1beta1.ReasonRateLimited, Message: e.Error(), After: after, Err: err}
	}
	return o
}
