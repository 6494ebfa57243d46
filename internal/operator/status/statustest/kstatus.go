package statustest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	operatorstatus "github.com/garm-operator/garm-operator/internal/operator/status"
)

// KStatus says what is wrong with how tools that wait for resources (kpt, Flux, Argo CD, Helm) see one; nil if they see what
// its conditions say.
func KStatus(obj v1beta1.Conditioned) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return fmt.Errorf("turn the resource into what tools read: %w", err)
	}
	seen, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		return fmt.Errorf("compute its kstatus: %w", err)
	}
	if want := expected(obj); seen.Status != want {
		return fmt.Errorf("tools see it as %s (%s), not as %s", seen.Status, seen.Message, want)
	}
	return nil
}

func expected(obj v1beta1.Conditioned) status.Status {
	switch {
	case obj.GetDeletionTimestamp() != nil:
		return status.TerminatingStatus
	case operatorstatus.Find(obj, v1beta1.ConditionStalled) != nil:
		return status.FailedStatus
	case obj.GetObservedGeneration() == obj.GetGeneration() && operatorstatus.Find(obj, v1beta1.ConditionReconciling) == nil && ready(obj):
		return status.CurrentStatus
	default:
		return status.InProgressStatus
	}
}

func ready(obj v1beta1.Conditioned) bool {
	c := operatorstatus.Find(obj, v1beta1.ConditionReady)
	return c != nil && c.Status == "True"
}
