package operator_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	garmclient "github.com/garm-operator/garm-operator/garm/client"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// OP-35: with rotateOutdatedRunners a new tag of an Image replaces the idle runners one by one, each once the one before
// has its successor, and leaves the busy one; a restart of the operator in between forgets nothing, and then it is quiet.
func TestOP35RotateOutdatedRunners(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, dialect garmproxy.Dialect) {
		e, p, pool, names := parked(t, 3, func(e *env) {
			e.Proxy.Speak(dialect)
			e.config.Operator.MinIdleRunnersAge = time.Second // nor is a runner that is just idle left alone for longer
		})
		p.report(e, names[0], string(garm.RunnerActive))
		p.report(e, names[1], string(garm.RunnerIdle))
		p.report(e, names[2], string(garm.RunnerIdle))
		edit(e, pool, func(p *v1beta1.Pool) { p.Spec.RotateOutdatedRunners = true })
		e.ready(pool)
		edit(e, e.Image(stack.ImageName, ""), func(i *v1beta1.Image) { i.Spec.Tag = "ubuntu-26.04" })

		first := p.successor(e, 4)
		if n := e.Proxy.Counts().Of("DELETE", "/instances/{id}", 200); n != 1 {
			t.Errorf("%d runners were removed before the first had a successor", n)
		}
		e.stop()
		p.report(e, first, string(garm.RunnerIdle))
		e.run()
		second := p.successor(e, 5)
		p.report(e, second, string(garm.RunnerIdle))

		e.eventually(func() error {
			instances, err := e.GARM.ListInstances(e.ctx)
			var left []string
			for _, i := range instances {
				left = append(left, i.Name)
			}
			slices.Sort(left)
			want := []string{names[0], first, second}
			slices.Sort(want)
			if !slices.Equal(left, want) {
				return fmt.Errorf("runners %v are left, not %v: %w", left, want, err)
			}
			return nil
		})
		e.ready(pool)
		settled := e.Proxy.Counts()
		time.Sleep(3 * time.Second) // nothing tells that no more go
		if n := e.Proxy.Counts().Since(settled).Writes(); n > 0 {
			t.Errorf("%d writes after the last was replaced:\n%s", n, e.Proxy.Counts().Since(settled))
		}
		if n := e.Proxy.Counts().Of("DELETE", "/instances/{id}", 0); n != 2 {
			t.Errorf("%d deletions of runners, not 2", n)
		}
		// The busy one goes when its job is over, and with it what was recorded.
		if err := e.GARM.DeleteInstanceWith(e.ctx, names[0], garmclient.DeleteInstanceOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		p.report(e, p.successor(e, 6), string(garm.RunnerIdle))
		e.eventually(func() error {
			if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
				return err
			}
			if names, found := pool.Annotations[v1beta1.AnnotationOutdatedRunners]; found {
				return fmt.Errorf("still recorded: %s", names)
			}
			return nil
		})
	})
}

// successor waits for the machine that makes the number of those that were made n, and returns its name.
func (p *park) successor(e *env, n int) string {
	e.t.Helper()
	known := map[string]bool{}
	for _, name := range p.seen {
		known[name] = true
	}
	for _, name := range p.machines(e, n) {
		if !known[name] {
			e.eventually(func() error {
				i, err := e.GARM.GetInstance(e.ctx, name)
				if err == nil && i.Status != garm.InstanceRunning {
					err = fmt.Errorf("%s is %s", name, i.Status)
				}
				return err
			})
			return name
		}
	}
	e.t.Fatalf("no new machine among %v", p.seen)
	return ""
}
