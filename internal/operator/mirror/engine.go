package mirror

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// Reasons of events.
const (
	EventCreating = "Creating"
	EventInfo     = "Info"
	// EventForced warns of what a removal by force may leave behind.
	EventForced   = "ForcedRemoval"
	EventUpdating = "Updating"
	EventDeleting = "Deleting"
	EventError    = "Error"
)

// Deps are what every engine of a process shares.
type Deps struct {
	Client  client.Client
	Live    client.Reader
	Session *remote.Session
}

// Engine reconciles the resources of one kind.
type Engine[O Object, R any] struct {
	kind   Kind[O, R]
	deps   Deps
	events record.EventRecorder
	fresh  Written[types.NamespacedName]
	stuck  stuckFields
}

// New makes the engine of a kind.
func New[O Object, R any](kind Kind[O, R], deps Deps, events record.EventRecorder) *Engine[O, R] {
	if kind.Fit == nil {
		kind.Fit = remote.State.Ready
	}
	return &Engine[O, R]{kind: kind, deps: deps, events: events}
}

// Reconcile makes one pass over the resource that the request names.
func (e *Engine[O, R]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := e.kind.New()
	if err := e.deps.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		if apierrors.IsNotFound(err) {
			e.fresh.Forget(req.NamespacedName)
			e.stuck.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	if again := e.fresh.Lag(req.NamespacedName, obj.GetResourceVersion(), time.Now()); again > 0 {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	p := &Pass[O]{
		Object: obj, before: clone(obj), Client: e.deps.Client, Live: e.deps.Live, Session: e.deps.Session, View: e.deps.Session.View(),
		Log: logr.FromContextOrDiscard(ctx), events: e.events,
	}
	outcome := e.pass(ctx, p)
	if outcome.failed() {
		e.deps.Session.Metrics().Failed(e.kind.Name, outcome.Reason)
	}
	defer func() { e.fresh.Note(req.NamespacedName, p.Object.GetResourceVersion(), time.Now()) }()
	if p.freed {
		return Outcome{}.Result()
	}
	if outcome.Silent && !p.created {
		return outcome.Result()
	}
	if err := e.record(ctx, p, outcome); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return outcome.Result()
}

// pass goes through the steps in their fixed order.
func (e *Engine[O, R]) pass(ctx context.Context, p *Pass[O]) Outcome {
	deleting := !p.Object.GetDeletionTimestamp().IsZero()
	if deleting && (e.kind.Finalizer == "" || !controllerutil.ContainsFinalizer(p.Object, e.kind.Finalizer)) {
		return Outcome{Silent: true}
	}
	if Paused(p.Object) {
		return e.paused(ctx, p, deleting)
	}
	p.Conditions.Drop(v1beta1.ConditionPaused)
	if deleting && orphaned(p.Object) {
		return e.release(ctx, p, "spec.deletionPolicy is "+string(v1beta1.DeletionPolicyOrphan))
	}
	if o := e.session(p); o.Class != Settled {
		return o
	}
	actuator := e.kind.Begin(p)
	if deleting {
		return e.delete(ctx, p, actuator)
	}
	if e.kind.Finalizer != "" && !controllerutil.ContainsFinalizer(p.Object, e.kind.Finalizer) {
		err := p.writeMetadata(ctx, func(obj O) { controllerutil.AddFinalizer(obj, e.kind.Finalizer) }, client.MergeFromWithOptimisticLock{})
		if err != nil {
			return Classify(Resolving, err)
		}
	}
	return e.converge(ctx, p, actuator)
}

// record writes the status, once, and tells of transitions.
func (e *Engine[O, R]) record(ctx context.Context, p *Pass[O], outcome Outcome) error {
	if !outcome.Silent {
		p.Conditions.Summarize(summary(outcome))
	}
	p.Conditions.Apply(p.Object, metav1.NewTime(time.Now()))
	p.Object.SetObservedGeneration(p.Object.GetGeneration())
	was := status.Find(p.before, v1beta1.ConditionReady)
	if err := e.patchStatus(ctx, p); err != nil {
		return err
	}
	e.tell(p, was, outcome)
	return p.storeMarks(ctx)
}

// tell emits a warning when a resource starts to fail, or fails for another reason than before.
func (e *Engine[O, R]) tell(p *Pass[O], was *metav1.Condition, outcome Outcome) {
	if !outcome.failed() || (was != nil && was.Reason == outcome.Reason) {
		return
	}
	p.Event(corev1.EventTypeWarning, EventError, "%s: %s", outcome.Reason, outcome.Message)
}

func summary(o Outcome) status.Summary {
	switch o.Class {
	case Settled:
		return status.Summary{Ready: true, Reason: v1beta1.ReasonReconcileSuccess, Message: o.Message}
	case Terminal:
		return status.Summary{Stalled: true, Reason: o.Reason, Message: o.Message}
	default:
		return status.Summary{Reconciling: true, Reason: o.Reason, Message: o.Message}
	}
}
