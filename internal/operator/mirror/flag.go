package mirror

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// Paused says whether a resource has the pause annotation.
func Paused(obj metav1.Object) bool { return flagged(obj, v1beta1.AnnotationPaused) }

// Forced says whether a resource has the annotation that lets its deletion use force.
func Forced(obj metav1.Object) bool { return flagged(obj, v1beta1.AnnotationForceDelete) }

// ForcedRemoval is what users are told of a runner that the server was asked to remove by force: servers then forget it even
// if its provider fails, and nobody else knows of the machine.
func ForcedRemoval(runner, providerID string) string {
	if providerID == "" {
		providerID = runner
	}
	return "removing runner " + runner + " by force: the GARM server forgets it even if the provider cannot remove its machine " + providerID +
		"; make sure at the provider that it is gone"
}

// flagged says whether a resource has an annotation whose presence counts, whatever its value but "false".
func flagged(obj metav1.Object, annotation string) bool {
	value, ok := obj.GetAnnotations()[annotation]
	return ok && !strings.EqualFold(strings.TrimSpace(value), "false")
}

// Released says whether a resource is being deleted in a way that leaves the remote object, and all below it, alone.
func Released(obj metav1.Object) bool {
	return !obj.GetDeletionTimestamp().IsZero() && (Paused(obj) || orphaned(obj))
}

// orphaned says whether the deletion of a resource leaves the remote object alone.
func orphaned(obj metav1.Object) bool {
	d, ok := obj.(v1beta1.Disposable)
	return ok && d.GetDeletionPolicy() == v1beta1.DeletionPolicyOrphan
}
