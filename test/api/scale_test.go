package api_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// TestScale does what kubectl scale does.
func TestScale(t *testing.T) {
	c := connect(t)
	object := c.manifest(t, v1beta1.KindPool, "scaled")
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		replicas int32
		want     string
		min      int64
	}{
		{"OP-28 within maxRunners", 3, "", 3},
		{"OP-28 more than maxRunners", 9, "minIdleRunners must not exceed maxRunners", 3},
		{"OP-28 to zero", 0, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: tc.replicas}}
			err := c.SubResource("scale").Update(t.Context(), object.DeepCopy(), client.WithSubResourceBody(scale))
			expect(t, err, tc.want)
			pool := &v1beta1.Pool{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), pool); err != nil {
				t.Fatal(err)
			}
			if got := pool.Spec.MinIdleRunners; got != tc.min {
				t.Errorf("minIdleRunners is %d, want %d", got, tc.min)
			}
		})
	}
}

// TestScaleStatus reads what an autoscaler reads.
func TestScaleStatus(t *testing.T) {
	c := connect(t)
	object := c.manifest(t, v1beta1.KindPool, "observed", set("spec.minIdleRunners", "2"))
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	pool := &v1beta1.Pool{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), pool); err != nil {
		t.Fatal(err)
	}
	pool.Status.LongRunningIdleRunners = 1
	if err := c.Status().Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	scale := &autoscalingv1.Scale{}
	if err := c.SubResource("scale").Get(t.Context(), pool, scale); err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 2 || scale.Status.Replicas != 1 || scale.Status.Selector != "" {
		t.Errorf("scale is %+v %+v, want 2 wanted, 1 seen and no selector", scale.Spec, scale.Status)
	}
}
