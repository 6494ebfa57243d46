package entity

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/garm-operator/garm-operator/api/v1beta1"
)

func TestStartRest(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	org := func(ready, manager, message string, since time.Duration) *v1beta1.Organization {
		at := metav1.NewTime(now.Add(-since))
		return &v1beta1.Organization{Status: v1beta1.EntityStatus{Conditions: []metav1.Condition{
			{Type: v1beta1.ConditionReady, Status: metav1.ConditionFalse, Reason: ready, LastTransitionTime: at},
			{Type: v1beta1.ConditionPoolManager, Status: metav1.ConditionFalse, Reason: manager, Message: message, LastTransitionTime: at},
		}}}
	}
	const starting, failure = v1beta1.ReasonReconciling, v1beta1.ReasonPoolManagerFailure
	for name, c := range map[string]struct {
		org  *v1beta1.Organization
		made bool
		want time.Duration
	}{
		"just made":                 {&v1beta1.Organization{}, true, startGrace},
		"made some time ago":        {org(starting, failure, "not looked at", 10*time.Second), false, startGrace - 10*time.Second},
		"a clock that stepped back": {org(starting, failure, "not looked at", -time.Hour), false, startGrace},
		"another reason":            {org(starting, failure, "starting", time.Second), false, 0},
		"a failure already":         {org(failure, failure, "not looked at", time.Second), false, 0},
		"it ran before":             {org(starting, v1beta1.ReasonPoolManagerRunning, "", time.Second), false, 0},
		"nothing known":             {&v1beta1.Organization{}, false, 0},
	} {
		if got := startRest(c.org, c.made, "not looked at", now); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
	if got := startRest(org(starting, failure, "not looked at", time.Minute), false, "not looked at", now); got > 0 {
		t.Errorf("a pool manager that does not start for a minute is still starting, for %s", got)
	}
}
