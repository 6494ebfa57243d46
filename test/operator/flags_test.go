package operator_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	operatorapp "github.com/garm-operator/garm-operator/internal/app/operator"
	"github.com/garm-operator/garm-operator/internal/config/operatorconfig"
	"github.com/garm-operator/garm-operator/internal/dev/controlplane"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
)

// gauge is a connection that knows how many requests of a kind were under way at once.
type gauge struct {
	method, suffix string

	mu        sync.Mutex
	now, most int
	all       int
	want      int
	reached   chan struct{}
}

// until holds requests back until n of them are under way, and a little longer, so that one too many would show.
func (g *gauge) until(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.want, g.reached = n, make(chan struct{})
}

// RoundTrip implements http.RoundTripper.
func (g *gauge) RoundTrip(r *http.Request) (*http.Response, error) {
	counted := r.Method == g.method && strings.Contains(r.URL.Path, g.suffix)
	g.mu.Lock()
	g.all++
	reached := g.reached
	if counted {
		g.now++
		g.most = max(g.most, g.now)
		if reached != nil && g.now == g.want {
			g.want = 0
			close(reached)
		}
	}
	g.mu.Unlock()
	if counted {
		defer func() {
			g.mu.Lock()
			g.now--
			g.mu.Unlock()
		}()
		if reached != nil {
			select {
			case <-reached:
			case <-time.After(20 * time.Second):
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (g *gauge) read() (most, all int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.most, g.all
}

// --operator-*-concurrency: so many resources of a kind are worked on at once.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	const n = 6
	kinds := map[string]struct {
		suffix string
		set    func(*operatorconfig.Operator, int)
		make   func(*env, int) client.Object
	}{
		"enterprise": {"/enterprises", func(o *operatorconfig.Operator, n int) { o.EnterpriseConcurrency = n }, func(e *env, i int) client.Object {
			_, _, o, _, _, _ := e.mirrors()
			o.Name = fmt.Sprint("enterprise-", i)
			return o
		}},
		"organization": {"/organizations", func(o *operatorconfig.Operator, n int) { o.OrganizationConcurrency = n }, func(e *env, i int) client.Object {
			return e.Organization(fmt.Sprint("organization-", i))
		}},
		"repository": {"/repositories", func(o *operatorconfig.Operator, n int) { o.RepositoryConcurrency = n }, func(e *env, i int) client.Object {
			_, _, _, _, o, _ := e.mirrors()
			o.Name = fmt.Sprint("repository-", i)
			return o
		}},
		"pool": {"/pools", func(o *operatorconfig.Operator, n int) { o.PoolConcurrency = n }, func(e *env, i int) client.Object {
			return e.Pool(fmt.Sprint("pool-", i))
		}},
	}
	for name, kind := range kinds {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(name, " ", workers), func(t *testing.T) {
				t.Parallel()
				e := setup(t)
				kind.set(&e.config.Operator, workers)
				g := &gauge{method: http.MethodPost, suffix: kind.suffix}
				e.start(operatorapp.Options{Transport: g, Session: func(o *remote.Options) { o.WritesInFlight = n }})
				e.apply(e.Base()...)
				e.ready(e.Organization(stack.Org))
				g.until(workers)
				var objects []client.Object
				for i := range n {
					objects = append(objects, kind.make(e, i))
				}
				e.apply(objects...)
				e.ready(objects...)
				if most, _ := g.read(); most != workers {
					t.Errorf("%d creates were under way at once with %d workers", most, workers)
				}
			})
		}
	}
}

// --operator-runner-concurrency: so many Runners are worked on at once.
func TestRunnerConcurrency(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()
			g := &gauge{method: http.MethodDelete, suffix: "/instances/"}
			p := newPark(t)
			e := setup(t, func(o *stack.Options) { o.Provider = p.program })
			e.config.Operator.RunnerReconciliation, e.config.Operator.RunnerConcurrency = true, workers
			e.start(operatorapp.Options{Transport: g, Session: func(o *remote.Options) { o.WritesInFlight = 6 }})
			pool := e.Pool("p")
			pool.Spec.MinIdleRunners, pool.Spec.MaxRunners = 6, 6
			e.apply(append(e.Base(), pool)...)
			e.ready(pool)
			runners := e.runners(6)
			for i := range runners {
				p.report(e, runners[i].Status.Name, "idle")
			}
			g.until(workers)
			for i := range runners {
				e.delete(&runners[i])
			}
			for i := range runners {
				e.gone(&runners[i])
			}
			if most, _ := g.read(); most != workers {
				t.Errorf("%d deletions were under way at once with %d workers", most, workers)
			}
		})
	}
}

// runners waits for n Runners whose machines run, and returns them.
func (e *env) runners(n int) []v1beta1.Runner {
	e.t.Helper()
	list := &v1beta1.RunnerList{}
	e.eventually(func() error {
		if err := e.Kube.List(e.ctx, list, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		running := 0
		for _, r := range list.Items {
			if r.Status.InstanceStatus == "running" {
				running++
			}
		}
		if running != n || len(list.Items) != n {
			return fmt.Errorf("%d Runners, %d of them run, not %d", len(list.Items), running, n)
		}
		return nil
	})
	return list.Items
}

// --operator-runner-reconciliation: off, no runner is shown.
func TestOP38RunnersAreNotShown(t *testing.T) {
	t.Parallel()
	e, p, _, names := parked(t, 2, nil)
	for _, name := range names {
		p.report(e, name, "idle")
	}
	time.Sleep(2 * time.Second) // nothing may happen, and nothing tells when it has not
	list := &v1beta1.RunnerList{}
	if err := e.Kube.List(e.ctx, list, client.InNamespace(e.namespace)); err != nil || len(list.Items) > 0 {
		t.Errorf("%d Runners are shown, %v", len(list.Items), err)
	}
}

// --operator-sync-runners-interval: without events, runners are listed so often; --operator-sync-period: with events,
// everything is.
func TestIntervals(t *testing.T) {
	t.Parallel()
	bySyncPeriod := []string{"/pools", "/instances", "/github/endpoints", "/github/credentials"}
	for _, c := range []struct {
		name     string
		change   func(*operatorconfig.Operator)
		noEvents bool
		lists    []string
		often    bool
	}{
		{"runners often", func(o *operatorconfig.Operator) { o.SyncRunnersInterval = time.Second }, true, []string{"/instances"}, true},
		{"runners seldom", func(o *operatorconfig.Operator) { o.SyncRunnersInterval = time.Minute }, true, []string{"/instances"}, false},
		{"the rest often", func(o *operatorconfig.Operator) { o.SyncPeriod = time.Second }, false, bySyncPeriod, true},
		{"the rest seldom", func(o *operatorconfig.Operator) { o.SyncPeriod = time.Minute }, false, bySyncPeriod, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := setup(t)
			e.config.Operator.RunnerReconciliation = true
			c.change(&e.config.Operator)
			if c.noEvents {
				e.Proxy.Inject(garmproxy.Fault{Template: "/ws/events", Status: http.StatusNotFound})
			}
			e.run()
			e.apply(e.Base()...)
			e.ready(e.Organization(stack.Org))
			before := e.Proxy.Counts()
			lists := func() (n int) {
				for _, template := range c.lists {
					n += e.Proxy.Counts().Since(before).Of("GET", template, 200)
				}
				return n
			}
			if c.often {
				e.eventually(func() error {
					if n := lists(); n < 4 {
						return fmt.Errorf("%d lists", n)
					}
					return nil
				})
				return
			}
			time.Sleep(5 * time.Second)
			if n := lists(); n >= 4 {
				t.Errorf("%d lists within 5 s", n)
			}
		})
	}
}

// --operator-leader-election: one replica acts, holding the lease; the other makes no request until it leads.
func TestOP42LeaderElection(t *testing.T) {
	t.Parallel()
	e := setup(t)
	e.config.Operator.LeaderElection = true
	first, second := &gauge{}, &gauge{}
	stop := e.start(operatorapp.Options{Transport: first, LeaderElectionNamespace: e.namespace})
	objects := e.Base()
	e.apply(objects...)
	e.ready(objects...)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "b608d8b3.mercedes-benz.com"}}
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(lease), lease); err != nil || lease.Spec.HolderIdentity == nil {
		t.Fatalf("the lease is %+v, %v", lease.Spec, err)
	}
	holder := *lease.Spec.HolderIdentity
	e.start(operatorapp.Options{Transport: second, LeaderElectionNamespace: e.namespace})
	pool := e.Pool("p")
	e.apply(pool)
	e.ready(pool)
	if _, n := second.read(); n > 0 {
		t.Errorf("the replica that does not lead made %d requests", n)
	}
	stop()
	edit(e, pool, func(p *v1beta1.Pool) { p.Spec.MaxRunners = 9 })
	e.ready(pool)
	if _, n := second.read(); n == 0 {
		t.Error("the second replica made no request")
	}
	if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(lease), lease); err != nil || *lease.Spec.HolderIdentity == holder {
		t.Errorf("the lease is still that of %s, %v", holder, err)
	}
}

// --operator-watch-namespace: what lies elsewhere is left alone; empty, everything is watched, and a Runner is shown
// where its Pool is (OP-40).
func TestOP40Namespaces(t *testing.T) {
	t.Parallel()
	t.Run("one", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		elsewhere := e.Organization("elsewhere")
		elsewhere.Namespace = e.namespace + "-b"
		if err := e.Kube.Create(e.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere.Namespace}}); err != nil {
			t.Fatal(err)
		}
		e.apply(elsewhere)
		e.run()
		e.apply(e.Base()...)
		e.ready(e.Organization(stack.Org))
		if err := e.Kube.Get(e.ctx, client.ObjectKeyFromObject(elsewhere), elsewhere); err != nil || len(elsewhere.Status.Conditions)+len(elsewhere.Finalizers) > 0 {
			t.Errorf("a resource elsewhere was touched: %+v, %v", elsewhere, err)
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		own := ownPlane(t)
		park := newPark(t)
		e := setup(t, func(o *stack.Options) { o.Provider, o.Plane = park.program, own })
		e.config.Operator.WatchNamespace, e.config.Operator.RunnerReconciliation = "", true
		e.run()
		first, second := e.Pool("p"), e.Pool("p")
		first.Spec.MinIdleRunners = 1
		e.apply(append(e.Base(), first)...)
		second.Namespace = e.namespace + "-b"
		second.Spec.GitHubScopeRef.Name, second.Spec.MinIdleRunners = "other", 1
		if err := e.Kube.Create(e.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: second.Namespace}}); err != nil {
			t.Fatal(err)
		}
		there := func(o client.Object) client.Object { o.SetNamespace(second.Namespace); return o }
		e.apply(
			there(e.Secret(stack.TokenSecret, "ghp_b")), there(e.Secret(stack.WebhookSecret, "another-hook-secret")), there(e.Image(stack.ImageName, "b")),
			there(e.Endpoint("other")), second,
		)
		credential := e.Credential("other", "other", stack.TokenSecret)
		org := e.Organization("other")
		org.Spec.CredentialsRef.Name = "other"
		e.apply(there(credential), there(org))
		e.ready(first, second)
		for _, pool := range []*v1beta1.Pool{first, second} {
			e.eventually(func() error {
				list := &v1beta1.RunnerList{}
				err := e.Kube.List(e.ctx, list, client.InNamespace(pool.Namespace))
				if err == nil && len(list.Items) != 1 {
					err = fmt.Errorf("%s has %d Runners", pool.Namespace, len(list.Items))
				}
				return err
			})
		}
	})
}

// ownPlane is a control plane for an operator that watches everything.
func ownPlane(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	if os.Getenv(controlplane.AssetsVariable) == "" {
		t.Skipf("%s is not set; make test sets it", controlplane.AssetsVariable)
	}
	p, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: crd.Bases})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}
