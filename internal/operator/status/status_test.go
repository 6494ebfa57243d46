package status_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/status"
	"github.com/garm-operator/garm-operator/internal/operator/status/statustest"
)

// A message that the API server would change or refuse would be written again and again.
func TestLongMessagesStayText(t *testing.T) {
	for offset := range 4 {
		var set status.Set
		set.False(v1beta1.ConditionPoolManager, "Broken", strings.Repeat("x", offset)+strings.Repeat("\u20ac", 20000))
		pool := &v1beta1.Pool{}
		set.Apply(pool, metav1.Now())
		if m := pool.Status.Conditions[0].Message; !utf8.ValidString(m) || len(m) > 32768 {
			t.Errorf("%d bytes, valid: %t", len(m), utf8.ValidString(m))
		}
	}
}

// Whatever passes find, in whatever order: the laws hold, and times move only with the status.
func TestLawsHoldAfterAnyPass(t *testing.T) {
	named := []string{v1beta1.ConditionImageReference, v1beta1.ConditionScopeReference, v1beta1.ConditionPoolManager}
	rapid.Check(t, func(t *rapid.T) {
		pool := &v1beta1.Pool{}
		pool.Generation = 1
		pool.Status.Conditions = []metav1.Condition{
			{Type: v1beta1.ConditionObsoleteSecretReference, Status: metav1.ConditionTrue, Reason: "Old"},
			{Type: v1beta1.ConditionImageReference, Status: metav1.ConditionUnknown, Reason: v1beta1.ReasonUnknownReason},
		}
		clock := time.Unix(1000, 0)
		for range rapid.IntRange(1, 6).Draw(t, "passes") {
			clock = clock.Add(time.Minute)
			pool.Generation += int64(rapid.IntRange(0, 1).Draw(t, "edited"))
			before := pool.DeepCopy()
			var set status.Set
			for _, kind := range named {
				switch rapid.IntRange(0, 3).Draw(t, kind) {
				case 0:
					set.True(kind, "Fine", "")
				case 1:
					set.False(kind, "Broken", "why")
				case 2:
					set.Drop(kind)
				}
			}
			sum := status.Summary{Reason: "R"}
			switch rapid.IntRange(0, 2).Draw(t, "summary") {
			case 0:
				sum.Ready = true
			case 1:
				sum.Reconciling = true
			case 2:
				sum.Stalled, sum.Reconciling = true, rapid.Bool().Draw(t, "both")
			}
			set.Summarize(sum)
			set.Apply(pool, metav1.NewTime(clock))
			pool.SetObservedGeneration(pool.Generation)
			for _, err := range statustest.Laws(pool) {
				t.Error(err)
			}
			for _, c := range pool.Status.Conditions {
				old := status.Find(before, c.Type)
				moved := old == nil || old.Status != c.Status || old.LastTransitionTime.IsZero()
				if !moved && !old.LastTransitionTime.Equal(&c.LastTransitionTime) {
					t.Errorf("the time of %s moved, its status did not", c.Type)
				}
			}
			if status.Find(pool, v1beta1.ConditionObsoleteSecretReference) != nil {
				t.Error("a condition of an older release is still there")
			}
		}
	})
}
