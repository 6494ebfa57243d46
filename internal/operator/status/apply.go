package status

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

// obsolete are the condition types of older releases.
var obsolete = []string{
	v1beta1.ConditionObsoleteSecretReference,
	v1beta1.ConditionObsoleteCredentialsReference,
	v1beta1.ConditionObsoleteEndpointReference,
}

// Summary is what Ready, Reconciling and Stalled follow from.
type Summary struct {
	// Ready, Reconciling and Stalled say which of the three hold; Reconciling and Stalled never both.
	Ready, Reconciling, Stalled bool
	// Reason and Message explain all of them.
	Reason, Message string
}

// Summarize puts the summary into the set.
func (s *Set) Summarize(sum Summary) {
	if sum.Ready {
		s.True(v1beta1.ConditionReady, sum.Reason, sum.Message)
	} else {
		s.False(v1beta1.ConditionReady, sum.Reason, sum.Message)
	}
	s.only(v1beta1.ConditionReconciling, sum.Reconciling && !sum.Stalled, sum)
	s.only(v1beta1.ConditionStalled, sum.Stalled, sum)
}

func (s *Set) only(kind string, holds bool, sum Summary) {
	if holds {
		s.True(kind, sum.Reason, sum.Message)
	} else {
		s.Drop(kind)
	}
}

// Apply brings the set into the conditions of a resource. Conditions that the pass said nothing about stay, but for those
// of older releases and those that never said anything. The order is Ready first, the rest by type.
func (s *Set) Apply(obj v1beta1.Conditioned, now metav1.Time) {
	var out []metav1.Condition
	for _, old := range obj.GetConditions() {
		switch {
		case slices.Contains(obsolete, old.Type), s.dropped[old.Type], s.has(old.Type):
		case old.Status == metav1.ConditionUnknown && old.Reason == v1beta1.ReasonUnknownReason:
		default:
			out = append(out, old)
		}
	}
	for _, c := range s.found {
		if s.dropped[c.Type] {
			continue
		}
		c.ObservedGeneration = obj.GetGeneration()
		c.LastTransitionTime = now
		if old := Find(obj, c.Type); old != nil && old.Status == c.Status && !old.LastTransitionTime.IsZero() {
			c.LastTransitionTime = old.LastTransitionTime
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b metav1.Condition) int {
		if ready := v1beta1.ConditionReady; a.Type == ready || b.Type == ready {
			return boolOrder(a.Type == ready, b.Type == ready)
		}
		return cmp.Compare(a.Type, b.Type)
	})
	obj.SetConditions(out)
}

// Find returns the condition of a type, or nil.
func Find(obj v1beta1.Conditioned, kind string) *metav1.Condition {
	conditions := obj.GetConditions()
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// IsReady says whether Ready is True for the present generation.
func IsReady(obj v1beta1.Conditioned) bool {
	c := Find(obj, v1beta1.ConditionReady)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == obj.GetGeneration()
}

func (s *Set) has(kind string) bool {
	return slices.ContainsFunc(s.found, func(c metav1.Condition) bool { return c.Type == kind })
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
