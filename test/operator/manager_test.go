package operator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// OP-7: a token that GitHub refuses shows on what uses it, with the server's reason, and after a while on its Pools, which name
// the scope; a good token heals all of them at once.
func TestOP7PoolManagerDown(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.GitHub.RevokeToken("ghp_stack")
	e.run()
	_, _, enterprise, org, repository, _ := e.mirrors()
	pool := e.Pool("p")
	e.apply(append(e.Base(), enterprise, repository, pool)...)
	for _, c := range []struct {
		obj    client.Object
		reason func() (garm.Entity, error)
	}{
		{enterprise, func() (garm.Entity, error) {
			o, err := e.GARM.GetEnterprise(e.ctx, enterprise.Status.ID)
			return o.Entity, err
		}},
		{org, func() (garm.Entity, error) {
			o, err := e.GARM.GetOrganization(e.ctx, org.Status.ID)
			return o.Entity, err
		}},
		{repository, func() (garm.Entity, error) {
			o, err := e.GARM.GetRepository(e.ctx, repository.Status.ID)
			return o.Entity, err
		}},
	} {
		e.condition(c.obj, v1beta1.ConditionPoolManager, "False", v1beta1.ReasonPoolManagerFailure)
		e.condition(c.obj, v1beta1.ConditionReady, "False", v1beta1.ReasonPoolManagerFailure)
		at, err := c.reason()
		if err != nil || at.PoolManagerStatus.FailureReason == "" {
			t.Fatalf("the server says %+v, %v", at.PoolManagerStatus, err)
		}
		for _, kind := range []string{v1beta1.ConditionPoolManager, v1beta1.ConditionReady} {
			if m := status.Find(c.obj.(v1beta1.Conditioned), kind).Message; !strings.Contains(m, at.PoolManagerStatus.FailureReason) {
				t.Errorf("%T: %s says %q, the server %q", c.obj, kind, m, at.PoolManagerStatus.FailureReason)
			}
		}
		e.told(c.obj, corev1.EventTypeWarning, "Error", at.PoolManagerStatus.FailureReason)
	}

	e.eventually(func() error {
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
			return err
		}
		if pool.Status.ID == "" {
			return fmt.Errorf("the Pool has no id")
		}
		return nil
	})
	e.stop()
	base := org.DeepCopy()
	status.Find(org, v1beta1.ConditionPoolManager).LastTransitionTime = metav1.NewTime(time.Now().Add(-2 * time.Minute))
	if err := e.Kube.Status().Patch(e.ctx, org, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	e.run()
	e.condition(pool, v1beta1.ConditionReady, "False", v1beta1.ReasonPoolManagerFailure)
	if m := status.Find(pool, v1beta1.ConditionReady).Message; !strings.Contains(m, fmt.Sprintf("Organization %q", stack.Org)) {
		t.Errorf("the Pool says %q", m)
	}

	edit(e, e.Secret(stack.TokenSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("ghp_good") })
	e.ready(enterprise, org, repository, pool)
}
