package operator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/status"
)

// parked brings up a Pool with n machines whose runners have said nothing yet.
func parked(t *testing.T, n int64, change func(*env)) (*env, *park, *v1beta1.Pool, []string) {
	t.Helper()
	p := newPark(t)
	e := setup(t, func(o *stack.Options) { o.Provider = p.program })
	if change != nil {
		change(e)
	}
	e.run()
	pool := e.Pool("p")
	pool.Spec.MinIdleRunners, pool.Spec.MaxRunners = n, n
	objects := append(e.Base(), pool)
	e.apply(objects...)
	e.ready(objects...)
	names := p.machines(e, int(n))
	for _, name := range names {
		e.eventually(func() error {
			i, err := e.GARM.GetInstance(e.ctx, name)
			if err == nil && i.Status != garm.InstanceRunning {
				err = fmt.Errorf("%s is %s", name, i.Status)
			}
			return err
		})
	}
	return e, p, pool, names
}

// OP-21: a Pool that goes stops making runners, removes those without a job, never the busy one, and says what it waits
// for.
func TestOP21DrainsBeforeDeletion(t *testing.T) {
	t.Parallel()
	e, p, pool, names := parked(t, 3, nil)
	p.report(e, names[0], string(garm.RunnerActive))
	p.report(e, names[1], string(garm.RunnerIdle))
	e.delete(pool)
	e.condition(pool, v1beta1.ConditionReady, "False", v1beta1.ReasonWaitingForRunners)
	e.eventually(func() error {
		if err := errors.Join(instanceGone(e.ctx, e, names[1]), instanceGone(e.ctx, e, names[2])); err != nil {
			return err
		}
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
			return err
		}
		if m := status.Find(pool, v1beta1.ConditionReady).Message; m != "waiting for 1 runners: 1 busy with a job" {
			return fmt.Errorf("message %q", m)
		}
		return nil
	})
	if n := e.Proxy.Counts().Of("DELETE", "/instances/{id}", 0); n != 2 {
		t.Errorf("%d deletions of runners, not 2: the busy one has to be left", n)
	}
	if i, err := e.GARM.GetInstance(e.ctx, names[0]); err != nil || i.RunnerStatus != garm.RunnerActive || i.Status != garm.InstanceRunning {
		t.Errorf("the busy runner is %+v, %v", i, err)
	}
	if n := e.Proxy.Counts().Of("DELETE", "/pools/{id}", 0); n > 0 {
		t.Errorf("%d deletions of a pool with a busy runner", n)
	}
	err := e.GARM.DeleteInstanceWith(e.ctx, names[0], garmclient.DeleteInstanceOptions{Force: true}) // its job has ended
	if err != nil {
		t.Fatal(err)
	}
	e.gone(pool)
	if n := len(p.machines(e, 3)); n != 3 {
		t.Errorf("%d machines were made", n)
	}
	if n := len(e.pools()); n > 0 {
		t.Errorf("the server still has %d pools", n)
	}
}

// OP-35: a new tag of an Image is one PUT a pool, and leaves the runners of the old one alone.
func TestOP35NewImageLeavesRunners(t *testing.T) {
	t.Parallel()
	e, p, pool, names := parked(t, 2, nil)
	for _, name := range names {
		p.report(e, name, string(garm.RunnerIdle))
	}
	before := e.Proxy.Counts()
	edit(e, e.Image(stack.ImageName, ""), func(i *v1beta1.Image) { i.Spec.Tag = "ubuntu-26.04" })
	e.eventually(func() error {
		if got := e.pools()[0].Image; got != "ubuntu-26.04" {
			return fmt.Errorf("the pool has image %q", got)
		}
		return nil
	})
	e.ready(pool)
	counts := e.Proxy.Counts().Since(before)
	if counts.Writes() != 1 {
		t.Errorf("%d writes:\n%s", counts.Writes(), counts)
	}
	for _, name := range names {
		if i, err := e.GARM.GetInstance(e.ctx, name); err != nil || i.Status != garm.InstanceRunning {
			t.Errorf("runner %s is %+v, %v", name, i.Status, err)
		}
	}
}

// --operator-min-idle-runners-age: idle runners above the minimum go when they are that old, and not before.
func TestMinIdleRunnersAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		age  time.Duration
		left int
	}{{2 * time.Second, 1}, {time.Hour, 3}} {
		t.Run(c.age.String(), func(t *testing.T) {
			t.Parallel()
			e, p, pool, names := parked(t, 3, func(e *env) { e.config.Operator.MinIdleRunnersAge = c.age })
			for _, name := range names {
				p.report(e, name, string(garm.RunnerIdle))
			}
			edit(e, pool, func(p *v1beta1.Pool) { p.Spec.MinIdleRunners = 1 })
			e.ready(pool)
			left := func() int {
				instances, err := e.GARM.ListInstances(e.ctx)
				if err != nil {
					t.Fatal(err)
				}
				return len(instances)
			}
			e.eventually(func() error {
				if n := left(); n != c.left {
					return fmt.Errorf("%d runners are left, not %d", n, c.left)
				}
				return nil
			})
			if c.left < len(names) {
				e.told(pool, corev1.EventTypeNormal, "Scaling", "removing runner")
			}
			time.Sleep(3 * time.Second) // longer than the short age: no more may go
			if n := left(); n != c.left {
				t.Errorf("%d runners are left, not %d", n, c.left)
			}
			e.eventually(func() error {
				if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
					return err
				}
				if want := int64(0); c.age > time.Minute && pool.Status.LongRunningIdleRunners != want {
					return fmt.Errorf("status has %d long-idle runners", pool.Status.LongRunningIdleRunners)
				}
				return nil
			})
		})
	}
}
