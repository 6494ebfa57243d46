package scale_test

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/garmproxy"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

const (
	// poolCount is how many Pools are applied at once.
	poolCount = 200
	// cleanRequests is what that may cost, and restartRequests what each start of the operator may.
	cleanRequests   = 230
	restartRequests = 20
	// restRequests is what a minute without change may cost, whatever the size.
	restRequests = 10
)

// OP-1, OP-2: 200 Pools at once make 200 pools with few requests; then nothing is done until something changes.
func TestTwoHundredPools(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	f.start()
	if err := f.Apply(f.ctx, append(f.Base(), f.Pools(poolCount)...)...); err != nil {
		t.Fatal(err)
	}
	pools := f.allReady(poolCount)
	f.oneEach(pools, poolCount)
	counts := f.spent(cleanRequests)
	if got := counts.Of("POST", "/organizations/{id}/pools", 200); got != poolCount {
		t.Errorf("%d pools were made, not %d", got, poolCount)
	}

	// Finalizer, intent and status: were they not counted, none later would be either.
	if got := f.writes(); got < 2*poolCount {
		t.Errorf("only %d writes to the API server were seen for %d pools", got, poolCount)
	}

	atRest(t, f, "after the creation")
	t.Run("a restart writes nothing", func(t *testing.T) { restarted(t, f) })
	t.Run("an edit at the server while the operator was down is put back", func(t *testing.T) { putBack(t, f, pools) })
	t.Run("a new image is one update a pool", func(t *testing.T) { newImage(t, f) })
}

// atRest watches a minute in which nothing changes and returns what it cost.
func atRest(t *testing.T, f *fleet, when string) int {
	t.Helper()
	settle(f)
	requests, writes := f.Proxy.Counts(), f.writes()
	time.Sleep(time.Minute) // what does not happen cannot be waited for
	spent := f.Proxy.Counts().Since(requests)
	if got := spent.Requests(); got > restRequests {
		t.Errorf("%s: %d requests in a minute without change, more than %d:\n%s", when, got, restRequests, spent)
	}
	if got := f.writes() - writes; got != 0 {
		t.Errorf("%s: %d writes in a minute without change", when, got)
	}
	return spent.Requests()
}

// settle waits until the operator has written nothing and sent nothing but looks for three seconds.
func settle(f *fleet) {
	f.tb.Helper()
	last, since := -1, time.Now()
	f.until(func() error {
		if now := f.writes() + f.Proxy.Counts().Writes(); now != last {
			last, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < 3*time.Second {
			return fmt.Errorf("quiet for %s only", quiet)
		}
		return nil
	})
}

func restarted(t *testing.T, f *fleet) {
	settle(f)
	requests, writes := f.Proxy.Counts(), f.writes()
	f.stop()
	f.start()
	f.synced(requests)
	settle(f)
	spent := f.Proxy.Counts().Since(requests)
	if got := spent.Requests(); got > restartRequests {
		t.Errorf("%d requests, more than %d:\n%s", got, restartRequests, spent)
	}
	if got := f.writes() - writes; got != 0 {
		t.Errorf("%d writes", got)
	}
}

// synced waits until the operator has listed the pools since an earlier count.
func (f *fleet) synced(before garmproxy.Counts) {
	f.tb.Helper()
	f.until(func() error {
		if f.Proxy.Counts().Since(before).Of("GET", "/pools", 200) == 0 {
			return fmt.Errorf("the pools have not been listed")
		}
		return nil
	})
}

func putBack(t *testing.T, f *fleet, pools []v1beta1.Pool) {
	f.stop()
	edits := []garm.UpdatePoolParams{
		{MaxRunners: pointer(uint(9))},
		{MinIdleRunners: pointer(uint(1))},
		{Flavor: "other"},
		{Image: "other"},
		{Tags: []string{"other"}},
		{Enabled: pointer(false)},
		{RunnerBootstrapTimeout: pointer(uint(99))},
		{RunnerPrefix: "other"},
		{RunnerGroup: pointer("other")},
		{OSType: "windows"},
		{OSArch: "arm64"},
	}
	before := map[string]garm.Pool{}
	for _, p := range f.remotePools() {
		before[p.ID] = p
	}
	for i, edit := range edits {
		if _, err := f.GARM.UpdatePool(f.ctx, pools[i].Status.ID, edit); err != nil {
			t.Fatalf("edit %d: %v", i, err)
		}
	}
	counts := f.Proxy.Counts()
	f.start()
	f.until(func() error {
		for _, p := range f.remotePools() {
			if want := before[p.ID]; !sameShape(p, want) {
				return fmt.Errorf("pool %s is %+v, not %+v", p.ID, p, want)
			}
		}
		return nil
	})
	settle(f)
	if got := f.Proxy.Counts().Since(counts).Of("PUT", "/pools/{id}", 0); got != len(edits) {
		t.Errorf("%d updates for %d edits", got, len(edits))
	}
}

// sameShape compares what the operator cares for.
func sameShape(a, b garm.Pool) bool {
	return a.MaxRunners == b.MaxRunners && a.MinIdleRunners == b.MinIdleRunners && a.Flavor == b.Flavor && a.Image == b.Image &&
		fmt.Sprint(a.Tags) == fmt.Sprint(b.Tags) && a.Enabled == b.Enabled && a.RunnerBootstrapTimeout == b.RunnerBootstrapTimeout &&
		a.RunnerPrefix == b.RunnerPrefix && a.RunnerGroup == b.RunnerGroup && a.OSType == b.OSType && a.OSArch == b.OSArch
}

func newImage(t *testing.T, f *fleet) {
	settle(f)
	counts := f.Proxy.Counts()
	image := f.Image(stack.ImageName, "")
	if err := f.Kube.Get(f.ctx, client.ObjectKeyFromObject(image), image); err != nil {
		t.Fatal(err)
	}
	image.Spec.Tag = "ubuntu-26.04"
	if err := f.Kube.Update(f.ctx, image); err != nil {
		t.Fatal(err)
	}
	f.until(func() error {
		for _, p := range f.remotePools() {
			if p.Image != image.Spec.Tag {
				return fmt.Errorf("pool %s has the image %s", p.ID, p.Image)
			}
		}
		return nil
	})
	settle(f)
	if got := f.Proxy.Counts().Since(counts).Writes(); got != poolCount {
		t.Errorf("%d writes at the server for %d pools", got, poolCount)
	}
}

// OP-1, OP-2: neither slow creates nor a killed operator make a pool twice or lose one.
func TestSlowCreates(t *testing.T) {
	t.Parallel()
	f := newFleet(t, garmproxy.V015(), "--operator-pool-concurrency=10")
	f.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: "/organizations/{id}/pools", Delay: 300 * time.Millisecond})
	f.start()
	if err := f.Apply(f.ctx, append(f.Base(), f.Pools(poolCount)...)...); err != nil {
		t.Fatal(err)
	}
	f.oneEach(f.allReady(poolCount), poolCount)
	counts := f.spent(cleanRequests)
	if got := counts.Of("POST", "/organizations/{id}/pools", 0); got != poolCount {
		t.Errorf("%d creates, not %d", got, poolCount)
	}
}

func TestKilledThreeTimes(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]garmproxy.Dialect{"own": nil, "v0.1.5": garmproxy.V015()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, dialect)
			// A create takes a while, so that the operator dies with creates under way.
			f.Proxy.Inject(garmproxy.Fault{Method: "POST", Template: "/organizations/{id}/pools", Delay: 50 * time.Millisecond})
			f.start()
			if err := f.Apply(f.ctx, append(f.Base(), f.Pools(poolCount)...)...); err != nil {
				t.Fatal(err)
			}
			for _, made := range []int{40, 90, 150} {
				f.until(func() error {
					if got := f.Proxy.Counts().Of("POST", "/organizations/{id}/pools", 200); got < made {
						return fmt.Errorf("%d pools are made, not %d", got, made)
					}
					return nil
				})
				f.kill()
				f.start()
			}
			f.oneEach(f.allReady(poolCount), poolCount)
			counts := f.spent(cleanRequests + 3*restartRequests)
			if got := counts.Of("DELETE", "", 0); got != 0 {
				t.Errorf("%d deletions", got)
			}
		})
	}
}

// OP-3: a resync costs no more than a restart, and writes nothing.
func TestResync(t *testing.T) {
	t.Parallel()
	const n = 50
	f := newFleet(t, nil, "--operator-sync-period=20s")
	f.start()
	if err := f.Apply(f.ctx, append(f.Base(), f.Pools(n)...)...); err != nil {
		t.Fatal(err)
	}
	f.allReady(n)
	settle(f)
	requests, writes := f.Proxy.Counts(), f.writes()
	f.synced(requests)
	settle(f)
	spent := f.Proxy.Counts().Since(requests)
	if got := spent.Requests(); got > restartRequests {
		t.Errorf("%d requests, more than %d:\n%s", got, restartRequests, spent)
	}
	if got := f.writes() - writes; got != 0 {
		t.Errorf("%d writes", got)
	}
}

func pointer[T any](value T) *T { return &value }
