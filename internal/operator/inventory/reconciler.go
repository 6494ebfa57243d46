package inventory

import (
	"context"
	"fmt"
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
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

const (
	// soon is when a pass is repeated whose ground has moved: the cache lags behind the API server, or the view behind
	// GARM.
	soon = 20 * time.Millisecond
	// taken is when it is repeated if an object of the name exists that the cache does not show as the instance's. If it is
	// the instance's, the watch wakes it earlier.
	taken = time.Second
)

// reconciler brings the Runner objects of one instance in step with it. A request names the natural key of the instance,
// not an object: so no two workers are ever at one instance, wherever its objects are.
type reconciler struct {
	client  client.Client
	session *remote.Session
	shows   bool
	events  record.EventRecorder
	written mirror.Written[types.UID]
	asked   attempts
}

// pass is one look at one instance.
type pass struct {
	view  *remote.View
	state remote.State
	// key is the natural key of the instance; instance is what the view knows of it, if present. Known says whether the
	// view knows all instances.
	key            string
	instance       garm.Instance
	present, known bool
	// pool owns the instance, wanted is where its object belongs; both are nil for an instance that is not shown.
	pool   *v1beta1.Pool
	wanted *client.ObjectKey
}

// Reconcile makes one pass over an instance.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p := pass{view: r.session.View(), state: r.session.State(), key: req.Name}
	if p.view != nil && r.shows {
		p.instance, p.present, p.known = p.view.Instance(p.key)
	}
	if p.present {
		pool, err := r.owner(ctx, p.view, p.instance.PoolID)
		if err != nil {
			return ctrl.Result{}, err
		}
		if pool != nil && !mirror.Released(pool) { // what goes along with one, as with a namespace, is no wish to remove runners
			p.pool = pool
			p.wanted = &client.ObjectKey{Namespace: pool.Namespace, Name: ObjectName(p.instance.Name)}
		}
	}
	objects, err := r.objects(ctx, &p)
	if err != nil {
		return ctrl.Result{}, err
	}
	result, shown := ctrl.Result{}, false
	for i := range objects {
		obj := &objects[i]
		shown = shown || p.places(obj)
		again, err := r.settle(ctx, &p, obj)
		if err != nil {
			return ctrl.Result{}, err
		}
		result.RequeueAfter = sooner(result.RequeueAfter, again)
	}
	if p.wanted != nil && p.known && !shown {
		again, err := r.create(ctx, &p)
		if err != nil {
			return ctrl.Result{}, err
		}
		result.RequeueAfter = sooner(result.RequeueAfter, again)
	}
	return result, nil
}

// settle does what one object needs. It returns when to look again; 0 leaves it to what wakes the instance.
func (r *reconciler) settle(ctx context.Context, p *pass, obj *v1beta1.Runner) (time.Duration, error) {
	if again := r.written.Lag(obj.UID, obj.ResourceVersion, time.Now()); again > 0 {
		return again, nil
	}
	if !p.present && r.keyOf(obj) != p.key {
		return 0, nil // it was woken before the view knew the instance whose sanitised name it has, which is woken itself
	}
	v := decide(p.facts(r.shows, obj))
	if v == confirm {
		gone, err := p.view.ConfirmGone(ctx, remote.KindInstance, p.instanceName(obj))
		if err != nil {
			return 0, fmt.Errorf("ask whether the runner is gone: %w", err)
		}
		if !gone {
			return soon, nil
		}
		f := p.facts(r.shows, obj)
		f.gone = true
		v = decide(f)
	}
	var again time.Duration
	var err error
	switch v {
	case show:
		err = r.show(ctx, p, obj)
	case drop:
		err = r.drop(ctx, obj)
	case free:
		err = r.free(ctx, obj)
	case remove:
		again, err = r.remove(ctx, p, obj)
	case await:
		err = r.tell(ctx, p, obj, v1beta1.ReasonGarmUnavailable, unavailable(p.state))
	case leave, confirm:
	}
	switch {
	case apierrors.IsNotFound(err):
		r.forget(obj)
		return again, nil
	case apierrors.IsConflict(err):
		return soon, nil
	default:
		return again, err
	}
}

func (p *pass) facts(mirror bool, obj *v1beta1.Runner) facts {
	f := facts{
		mirror: mirror, deleting: !obj.DeletionTimestamp.IsZero(), held: controllerutil.ContainsFinalizer(obj, v1beta1.FinalizerRunner),
		ready: p.state.Ready(), known: p.known, present: p.present, placed: p.places(obj),
	}
	if p.view != nil {
		f.foreign = obj.Status.ControllerID != "" && obj.Status.ControllerID != p.view.Identity().ControllerID
		f.gone = p.view.InstanceGone(p.instanceName(obj))
	}
	return f
}

// places says whether the object is where the instance is to be shown.
func (p *pass) places(obj *v1beta1.Runner) bool {
	return p.wanted != nil && client.ObjectKeyFromObject(obj) == *p.wanted
}

// instanceName is the exact name of the instance, as far as it is known.
func (p *pass) instanceName(obj *v1beta1.Runner) string {
	switch {
	case p.present:
		return p.instance.Name
	case obj.Status.Name != "":
		return obj.Status.Name
	default:
		return p.key
	}
}

// create makes the object of an instance that has none, and fills it in.
func (r *reconciler) create(ctx context.Context, p *pass) (time.Duration, error) {
	obj := &v1beta1.Runner{ObjectMeta: metav1.ObjectMeta{Namespace: p.wanted.Namespace, Name: p.wanted.Name}}
	mark(obj, p.pool.Name)
	err := r.client.Create(ctx, obj)
	switch {
	case apierrors.IsAlreadyExists(err):
		return taken, nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("create Runner: %w", err)
	}
	logr.FromContextOrDiscard(ctx).Info("runner shown", "namespace", obj.Namespace, "runner", obj.Name, "pool", p.pool.Name)
	r.note(obj)
	err = r.show(ctx, p, obj)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}

// note remembers what was written, so that nothing is decided on something older from the cache.
func (r *reconciler) note(obj *v1beta1.Runner) {
	r.written.Note(obj.UID, obj.ResourceVersion, time.Now())
}

// forget drops what is remembered of an object that is gone.
func (r *reconciler) forget(obj *v1beta1.Runner) {
	r.written.Forget(obj.UID)
	r.asked.forget(obj.UID)
}

func sooner(a, b time.Duration) time.Duration {
	if a == 0 || (b > 0 && b < a) {
		return b
	}
	return a
}
