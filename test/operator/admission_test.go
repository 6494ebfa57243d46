package operator_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/dev/freeport"
)

// admitting is an operator that counts on admission, in an API server that does not ask it: whatever is created has come past.
func (e *env) admitting() {
	e.t.Helper()
	port, err := freeport.Port(e.ctx)
	if err != nil {
		e.t.Fatal(err)
	}
	o := &e.config.Operator
	o.WebhookEnabled, o.WebhookPort, o.WebhookCertificates = "true", port, "self-made"
	o.WebhookSecret, o.WebhookConfiguration = "webhook-server-cert", "none"
	e.stop = e.start(operatorapp.Options{LeaderElectionNamespace: e.namespace})
}

// OP-16: of equal Pools that came past admission together one gets a pool, the others say why they have none, and the next one
// goes on when it leaves.
func TestOP16EqualPoolsInARace(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.admitting()
	e.apply(e.Base()...)
	equal := e.EqualPools(3)
	e.apply(equal...)
	first := e.leader(equal)
	if n := len(e.pools()); n != 1 {
		t.Fatalf("%d pools at the server", n)
	}
	e.delete(first)
	e.gone(first)
	var left []client.Object
	for _, p := range equal {
		if p.GetName() != first.GetName() {
			left = append(left, p)
		}
	}
	second := e.leader(left)
	for _, p := range left {
		if p.GetName() != second.GetName() {
			third := p.(*v1beta1.Pool)
			edit(e, third, func(p *v1beta1.Pool) { p.Spec.Tags = []string{"linux", "other"} })
			e.ready(second, third)
		}
	}
	if n := len(e.pools()); n != 2 {
		t.Errorf("%d pools at the server", n)
	}
}

// leader waits until one of several Pools is Ready and the others stand back, and returns the one.
func (e *env) leader(pools []client.Object) client.Object {
	e.t.Helper()
	var first client.Object
	e.eventually(func() error {
		first = nil
		for _, obj := range pools {
			p := obj.(*v1beta1.Pool)
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(p), p); err != nil {
				return err
			}
			if p.Status.ID != "" {
				if first != nil {
					e.t.Fatalf("%s and %s have pools", first.GetName(), p.Name)
				}
				first = p
			}
		}
		if first == nil {
			return fmt.Errorf("no Pool has a pool")
		}
		return nil
	})
	e.ready(first)
	for _, p := range pools {
		if p.GetName() != first.GetName() {
			e.condition(p, v1beta1.ConditionStalled, "True", v1beta1.ReasonDuplicatePoolFound)
		}
	}
	return first
}
