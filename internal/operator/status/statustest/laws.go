// Package statustest holds the laws that the conditions of every resource obey, for tests.
package statustest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// Laws returns what is wrong with the conditions of a resource; nothing if all is well.
func Laws(obj v1beta1.Conditioned) []error {
	var broken []error
	fail := func(format string, args ...any) { broken = append(broken, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	for i, c := range obj.GetConditions() {
		if seen[c.Type] {
			fail("condition %s appears twice", c.Type)
		}
		seen[c.Type] = true
		if c.Reason == "" {
			fail("condition %s has no reason", c.Type)
		}
		if c.LastTransitionTime.IsZero() {
			fail("condition %s has no time", c.Type)
		}
		if c.ObservedGeneration > obj.GetGeneration() {
			fail("condition %s speaks of generation %d, the resource is at %d", c.Type, c.ObservedGeneration, obj.GetGeneration())
		}
		if c.Status == metav1.ConditionUnknown {
			fail("condition %s is Unknown", c.Type)
		}
		if (c.Type == v1beta1.ConditionReady) != (i == 0) {
			fail("condition %d is %s; Ready comes first, and alone", i, c.Type)
		}
	}
	if err := KStatus(obj); err != nil {
		broken = append(broken, err)
	}
	ready := status.Find(obj, v1beta1.ConditionReady)
	reconciling := status.Find(obj, v1beta1.ConditionReconciling)
	stalled := status.Find(obj, v1beta1.ConditionStalled)
	if ready == nil {
		fail("there is no Ready")
		return broken
	}
	if reconciling != nil && stalled != nil {
		fail("both Reconciling and Stalled are there")
	}
	for _, c := range []*metav1.Condition{reconciling, stalled} {
		if c == nil {
			continue
		}
		if c.Status != metav1.ConditionTrue {
			fail("%s is %s; it is absent where it does not hold", c.Type, c.Status)
		}
		if ready.Status == metav1.ConditionTrue {
			fail("Ready is True beside %s", c.Type)
		}
	}
	if ready.Status == metav1.ConditionTrue && obj.GetObservedGeneration() != ready.ObservedGeneration {
		fail("Ready speaks of generation %d, the status of %d", ready.ObservedGeneration, obj.GetObservedGeneration())
	}
	return broken
}
