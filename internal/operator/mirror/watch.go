package mirror

import (
	"maps"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/refs"
)

// Own lets through what concerns the spec: not the operator's own writes, but every resync.
func Own() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld, e.ObjectNew
		return before.GetResourceVersion() == after.GetResourceVersion() ||
			before.GetGeneration() != after.GetGeneration() ||
			before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
			!maps.Equal(userAnnotations(before), userAnnotations(after))
	}}
}

// Deletions lets nothing through but that a resource is gone, or that the operator is done with it.
func Deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(e event.UpdateEvent) bool { return refs.Left(e.ObjectNew) && !refs.Left(e.ObjectOld) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// userAnnotations returns the annotations that a user sets for the operator.
func userAnnotations(obj client.Object) map[string]string {
	all := map[string]string{}
	for k, v := range obj.GetAnnotations() {
		switch k {
		case v1beta1.AnnotationPoolIntent, v1beta1.AnnotationSecretMarker, v1beta1.AnnotationWebhookMarker, v1beta1.AnnotationOutdatedRunners:
		default:
			if strings.HasPrefix(k, v1beta1.Group+"/") {
				all[k] = v
			}
		}
	}
	return all
}

// RateLimiter grows the delay after transient failures from half a second to a minute.
func RateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](500*time.Millisecond, time.Minute)
}
