package status

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patch writes the status of now where it differs from that of before, and nothing where it does not. It says whether it
// wrote; now then holds what the API server answered.
func Patch(ctx context.Context, c client.Client, before, now client.Object) (bool, error) {
	data, err := patchOf(before, now)
	if err != nil || data == nil {
		return false, err
	}
	if err := c.Status().Patch(ctx, now, client.RawPatch(types.MergePatchType, data)); err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	return true, nil
}

// patchOf returns a merge patch with the whole status, or nil if nothing differs. Fields that the schema requires stand in
// it even when they are zero, so that the first write is complete.
func patchOf(before, now client.Object) ([]byte, error) {
	old, err := statusOf(before)
	if err != nil {
		return nil, err
	}
	status, err := statusOf(now)
	if err != nil || reflect.DeepEqual(old, status) {
		return nil, err
	}
	for key := range old {
		if _, kept := status[key]; !kept {
			status[key] = nil
		}
	}
	return json.Marshal(map[string]any{"status": status})
}

func statusOf(obj client.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("compare status: %w", err)
	}
	status, _ := content["status"].(map[string]any)
	return status, nil
}
