package status

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patch writes the status of now where it differs from that of before, and nothing where it does not. It says whether it
// wrote; now then holds what the API server answered.
func Patch(ctx context.Context, c client.Client, before, now client.Object) (bool, error) {
	patch := client.MergeFrom(before)
	same, err := sameStatus(before, now)
	if err != nil || same {
		return false, err
	}
	if err := c.Status().Patch(ctx, now, patch); err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	return true, nil
}

func sameStatus(a, b client.Object) (bool, error) {
	left, err := statusOf(a)
	if err != nil {
		return false, err
	}
	right, err := statusOf(b)
	if err != nil {
		return false, err
	}
	return string(left) == string(right), nil
}

func statusOf(obj client.Object) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("compare status: %w", err)
	}
	return json.Marshal(content["status"])
}
