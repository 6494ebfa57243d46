package pool

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
)

// OP-7: a Pool says that the pool manager of its scope is down once that has lasted; until then it looks again when it will have.
func TestManagerHint(t *testing.T) {
	condition := func(status metav1.ConditionStatus, since time.Duration) *metav1.Condition {
		return &metav1.Condition{Type: v1beta1.ConditionPoolManager, Status: status, LastTransitionTime: metav1.NewTime(time.Now().Add(-since))}
	}
	for name, c := range map[string]struct {
		manager *metav1.Condition
		next    time.Duration
		class   mirror.Class
		after   time.Duration // at most, and not much less
	}{
		"nothing is known":        {nil, time.Hour, mirror.Settled, time.Hour},
		"it runs":                 {condition("True", time.Hour), time.Hour, mirror.Settled, time.Hour},
		"down just now":           {condition("False", 0), 0, mirror.Settled, managerGrace},
		"down for half a minute":  {condition("False", managerGrace/2), time.Hour, mirror.Settled, managerGrace / 2},
		"something is due sooner": {condition("False", 0), time.Second, mirror.Settled, time.Second},
		"down for long":           {condition("False", 2*managerGrace), time.Hour, mirror.Degraded, time.Hour},
	} {
		a := &actuator{scope: scope{kind: "Organization", name: "octo-org", manager: c.manager}}
		var got *mirror.Outcome
		if err := a.managerHint(c.next); !errors.As(err, &got) {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Class != c.class || got.After > c.after || got.After < c.after-10*time.Second {
			t.Errorf("%s: class %d after %s, want %d after %s", name, got.Class, got.After, c.class, c.after)
		}
		if told := got.Reason == v1beta1.ReasonPoolManagerFailure && strings.Contains(got.Message, `Organization "octo-org"`); told != (c.class == mirror.Degraded) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
