package operator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status/statustest"
)

// machines is a provider whose machines exist as soon as they are asked for, and do nothing.
const machines = `#!/bin/sh
case "$GARM_COMMAND" in
GetVersion) echo v0.1.1 ;;
CreateInstance)
	name=$(sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' | head -n 1)
	echo '{"provider_id": "vm-'"$name"'", "name": "'"$name"'", "os_type": "linux", "os_arch": "amd64", "status": "running",
		"addresses": [{"address": "192.0.2.7", "type": "private"}]}'
	;;
ListInstances) echo '[]' ;;
esac
`

// OP-37, OP-25: against the real server, a runner is shown with its Pool, and goes when its object is deleted.
func TestOP37RunnersOfTheRealServer(t *testing.T) {
	t.Parallel()
	provider := filepath.Join(t.TempDir(), "machines")
	if err := os.WriteFile(provider, []byte(machines), 0o700); err != nil {
		t.Fatal(err)
	}
	e := setup(t, func(o *stack.Options) { o.Provider = provider })
	e.config.Operator.RunnerReconciliation = true
	e.run()
	pool := e.Pool("p")
	pool.Spec.MinIdleRunners, pool.Spec.MaxRunners = 2, 2
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)

	var runners []v1beta1.Runner
	list := func(want int) func() error {
		return func() error {
			found := &v1beta1.RunnerList{}
			if err := e.Kube.List(e.ctx, found, client.InNamespace(e.namespace), client.MatchingLabels{v1beta1.LabelPool: "p"}); err != nil {
				return err
			}
			runners = nil
			for _, r := range found.Items {
				if r.Status.InstanceStatus == string(garm.InstanceRunning) && len(r.Status.Addresses) == 1 && r.Status.PoolID == "p" {
					runners = append(runners, r)
				}
			}
			if len(runners) != want {
				return fmt.Errorf("%d of %d runners are shown as running: %+v", len(runners), want, found.Items)
			}
			return nil
		}
	}
	e.eventually(list(2))
	for i := range runners {
		for _, err := range statustest.Laws(&runners[i]) {
			t.Error(err)
		}
	}
	victim := runners[0].DeepCopy()
	e.delete(victim)
	e.gone(victim)
	e.eventually(func() error { return instanceGone(e.ctx, e, victim.Status.Name) })
	e.eventually(list(2))
}

func instanceGone(ctx context.Context, e *env, name string) error {
	if _, err := e.GARM.GetInstance(ctx, name); !garm.IsNotFound(err) {
		return fmt.Errorf("instance %s is still there: %w", name, err)
	}
	return nil
}
