package inventory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// The words of a removal.
const (
	messageBusy     = "the runner runs a job; it is removed when the job is over"
	messageStarting = "the machine is being created; the runner is removed when it is there"
	messageLeaving  = "the GARM server is removing the runner"
)

// remove brings the instance closer to its removal, by force only if the user says so. It asks the server for the present state first: an
// event that tells of a job may have been lost.
func (r *reconciler) remove(ctx context.Context, p *pass, obj *v1beta1.Runner) (time.Duration, error) {
	force := mirror.Forced(obj)
	how := removalOf(p.instance, force)
	if how == request {
		if rest := r.asked.rest(obj.UID, stateOf(p.instance, force), time.Now()); rest > 0 {
			return rest, nil
		}
		gone, err := p.view.ConfirmGone(ctx, remote.KindInstance, p.instance.Name)
		if gone {
			return 0, r.free(ctx, obj)
		}
		if err != nil {
			return r.refused(ctx, p, obj, err)
		}
		fresh, present, _ := p.view.Instance(p.instance.Name)
		if !present {
			return soon, nil
		}
		p.instance, how = fresh, removalOf(fresh, force)
	}
	switch how {
	case busy:
		return 0, r.tell(ctx, p, obj, v1beta1.ReasonWaitingForRunners, messageBusy)
	case starting:
		return 0, r.tell(ctx, p, obj, v1beta1.ReasonDeleting, messageStarting)
	case leaving:
		return 0, r.tell(ctx, p, obj, v1beta1.ReasonDeleting, messageLeaving)
	case request:
	}
	if err := p.view.Writer().DeleteInstance(ctx, p.instance.Name, force); err != nil {
		return r.refused(ctx, p, obj, err)
	}
	again := r.asked.note(obj.UID, stateOf(p.instance, mirror.Forced(obj)), time.Now(), maxRest)
	logr.FromContextOrDiscard(ctx).Info("asked GARM to remove a runner", "namespace", obj.Namespace, "runner", obj.Name, "instance", p.instance.Name, "force", force)
	r.events.Event(obj, corev1.EventTypeNormal, "Deleting", "asked the GARM server to remove the runner")
	if force {
		r.events.Event(obj, corev1.EventTypeWarning, mirror.EventForced, mirror.ForcedRemoval(p.instance.Name, p.instance.ProviderID))
	}
	return again, r.tell(ctx, p, obj, v1beta1.ReasonDeleting, messageLeaving)
}

// refused tells why the server does not remove the instance. Whatever it says, it is asked again: at once when the
// instance changes, else with growing delays. The delays are kept here and not in the queue, which a write of the status
// wakes.
func (r *reconciler) refused(ctx context.Context, p *pass, obj *v1beta1.Runner, err error) (time.Duration, error) {
	if errors.Is(err, remote.ErrStaleView) || errors.Is(err, remote.ErrNotReady) || errors.Is(err, context.Canceled) {
		return soon, nil
	}
	if garm.IsNotFound(err) {
		return soon, nil
	}
	var refusal *garm.Error
	reason, message, rest := v1beta1.ReasonDeletionFailed, err.Error(), time.Duration(0)
	if errors.As(err, &refusal) {
		message = refusal.Error()
		rest = time.Duration(refusal.RetryAfterSeconds) * time.Second
		switch refusal.Kind {
		case garm.KindInvalid, garm.KindConflict:
			reason, rest = v1beta1.ReasonWaitingForRunners, maxRest
			message = fmt.Sprintf("the GARM server does not let the runner go yet: %s (annotation %s removes by force)", message, v1beta1.AnnotationForceDelete)
		case garm.KindRateLimited:
			reason = v1beta1.ReasonRateLimited
		}
	}
	again := r.asked.note(obj.UID, stateOf(p.instance, mirror.Forced(obj)), time.Now(), rest)
	return again, r.tell(ctx, p, obj, reason, message)
}
