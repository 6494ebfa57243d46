package operator_test

import (
	"strings"
	"testing"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// OP-7: a token that GitHub refuses shows on the Organization, with the server's reason; a good one heals it at once.
func TestOP7PoolManagerDown(t *testing.T) {
	t.Parallel()
	e := setup(t)
	base := e.Base()
	e.GitHub.RevokeToken("ghp_stack")
	e.run()
	e.apply(base...)
	org := e.Organization(stack.Org)
	e.condition(org, v1beta1.ConditionPoolManager, "False", v1beta1.ReasonPoolManagerFailure)
	e.condition(org, v1beta1.ConditionReady, "False", v1beta1.ReasonPoolManagerFailure)
	if c := status.Find(org, v1beta1.ConditionReady); !strings.Contains(c.Message, "pool manager") {
		t.Errorf("message %q", c.Message)
	}
	edit(e, e.Secret(stack.TokenSecret, ""), func(s *secret) { s.Data[stack.SecretKey] = []byte("ghp_good") })
	e.ready(org)
}
