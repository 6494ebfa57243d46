package scale_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
)

// OP-41, OP-65: a minute at rest costs the same for 5 runners as for 500.
func TestRunnersAtRest(t *testing.T) {
	t.Parallel()
	sizes := []int{5, 500}
	cost := make([]int, len(sizes))
	t.Cleanup(func() {
		// How many of the jittered lists fall into a minute differs; a cost of each runner would show in hundreds.
		if d := cost[1] - cost[0]; d < -8 || d > 8 {
			t.Errorf("%d requests with %d runners, %d with %d", cost[0], sizes[0], cost[1], sizes[1])
		}
	})
	for i, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, nil, "--operator-runner-reconciliation=true")
			f.start()
			pool := f.Pool("many")
			pool.Spec.MinIdleRunners, pool.Spec.MaxRunners = int64(size), int64(size)
			if err := f.Apply(f.ctx, append(f.Base(), pool)...); err != nil {
				t.Fatal(err)
			}
			f.shown(size)
			cost[i] = atRest(t, f, "with runners")
			if peak := f.peakMemory(); peak >= memoryLimit {
				t.Errorf("OP-59: the operator took %.0f MiB, more than %d", peak, memoryLimit)
			}
		})
	}
}

// shown waits until n runners run, and are shown as GARM shows them.
func (f *fleet) shown(n int) {
	f.tb.Helper()
	f.until(func() error {
		instances, err := f.GARM.ListInstances(f.ctx)
		if err != nil {
			return err
		}
		if len(instances) != n {
			return fmt.Errorf("there are %d instances, not %d", len(instances), n)
		}
		runners := &v1beta1.RunnerList{}
		if err := f.Kube.List(f.ctx, runners, client.InNamespace(f.namespace)); err != nil {
			return err
		}
		shown := map[string]string{}
		for _, r := range runners.Items {
			shown[r.Status.Name] = r.Status.InstanceStatus
		}
		for _, i := range instances {
			if i.Status != "running" {
				return fmt.Errorf("%s is %s", i.Name, i.Status)
			}
			if shown[i.Name] != string(i.Status) {
				return fmt.Errorf("%s is shown as %q, not %q", i.Name, shown[i.Name], i.Status)
			}
		}
		if len(shown) != n {
			return fmt.Errorf("%d runners are shown, not %d", len(shown), n)
		}
		return nil
	})
}

// What events do not tell is found all the same: some are lost, some come twice or late, and a stream dies in silence.
func TestBadEvents(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]garmproxy.Dialect{"own": nil, "v0.1.5": garmproxy.V015()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, dialect, "--operator-runner-reconciliation=true", "--operator-sync-period=20s")
			f.Proxy.SetEventFaults(garmproxy.EventFaults{Drop: 0.1, Reorder: 0.1, Duplicate: 0.1, Seed: 7})
			f.start()
			pools := f.Pools(20)
			for _, p := range pools {
				pool := p.(*v1beta1.Pool)
				pool.Spec.MinIdleRunners, pool.Spec.MaxRunners = 2, 2
			}
			if err := f.Apply(f.ctx, append(f.Base(), pools...)...); err != nil {
				t.Fatal(err)
			}
			f.oneEach(f.allReady(len(pools)), len(pools))
			f.shown(2 * len(pools))
			f.Proxy.HalfOpen()
			for _, p := range pools[:10] {
				if err := f.Kube.Delete(f.ctx, p); err != nil {
					t.Fatal(err)
				}
			}
			f.until(func() error {
				if got := len(f.remotePools()); got != 10 {
					return fmt.Errorf("the server has %d pools, not 10", got)
				}
				return nil
			})
			f.shown(20)
			f.oneEach(f.allReady(10), 10)
		})
	}
}
