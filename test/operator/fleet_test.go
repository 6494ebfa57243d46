package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/dev/stack"
)

// The whole fleet from nothing, in any order, each object once at the server; and down again in any order. Events tell of it.
func TestFleetUpAndDown(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	objects := append(e.Base(), e.Pools(3)...)
	slices.Reverse(objects) // OP-9: a Pool before its Image, an Organization before its credential
	e.apply(objects...)
	e.ready(objects...)
	if n := len(e.pools()); n != 3 {
		t.Errorf("the server has %d pools, not 3", n)
	}
	counts := e.Proxy.Counts()
	if n := counts.Of("POST", "/organizations/{id}/pools", 200); n != 3 {
		t.Errorf("%d pools were created, not 3:\n%s", n, counts)
	}

	for _, o := range objects {
		if _, ok := o.(v1beta1.Conditioned); ok {
			e.delete(o)
		}
	}
	var mirrored []client.Object
	for _, o := range objects {
		if _, ok := o.(v1beta1.Conditioned); ok {
			mirrored = append(mirrored, o)
		}
	}
	e.gone(mirrored...)
	if orgs, err := e.GARM.ListOrganizations(e.ctx); err != nil || len(orgs) > 0 {
		t.Errorf("the server still has organizations: %v, %v", orgs, err)
	}
	for _, o := range objects {
		switch o.(type) {
		case *v1beta1.GitHubEndpoint, *v1beta1.GitHubCredential, *v1beta1.Organization:
			e.told(o, corev1.EventTypeNormal, "Creating", "creating")
			e.told(o, corev1.EventTypeNormal, "Info", "created at the GARM server")
			e.told(o, corev1.EventTypeNormal, "Deleting", "deleting at the GARM server")
		case *v1beta1.Pool:
			e.told(o, corev1.EventTypeNormal, "Info", "created at the GARM server")
			e.told(o, corev1.EventTypeNormal, "Deleting", "deleting at the GARM server")
		case *v1beta1.GarmServerConfig:
			e.told(o, corev1.EventTypeNormal, "Updating", "webhookUrl")
		}
	}
}

// told waits for an event of a resource, which may be gone.
func (e *env) told(obj client.Object, kind, reason, text string) {
	e.t.Helper()
	e.eventually(func() error {
		var events corev1.EventList
		if err := e.Kube.List(e.ctx, &events, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		var others []string
		for _, v := range events.Items {
			if v.InvolvedObject.Name != obj.GetName() || !strings.HasSuffix(fmt.Sprintf("%T", obj), "."+v.InvolvedObject.Kind) {
				continue
			}
			if v.Type == kind && v.Reason == reason && strings.Contains(v.Message, text) {
				return nil
			}
			others = append(others, v.Reason+": "+v.Message)
		}
		return fmt.Errorf("no %s %s %q among %q", kind, reason, text, others)
	})
}

// OP-5, OP-36: an edit of any field is one PUT, is in force at the server then, and nothing follows it.
func TestPoolEdits(t *testing.T) {
	t.Parallel()
	e := setup(t).run()
	pool, other := e.Pool("edited"), e.Image("other", "debian-13")
	pool.Spec.ExtraSpecs = `{"b": 1, "a": "<x>"}`
	objects := append(e.Base(), pool)
	e.apply(append(objects, other)...)
	e.ready(objects...)
	tags := func(want ...string) func(garm.Pool) bool {
		return func(p garm.Pool) bool {
			var have []string
			for _, tag := range p.Tags {
				have = append(have, tag.Name)
			}
			slices.Sort(have)
			return slices.Equal(have, want)
		}
	}
	specs := func(want string) func(garm.Pool) bool {
		return func(p garm.Pool) bool { return string(p.ExtraSpecs) == want }
	}
	prefix := func(want string) func(garm.Pool) bool {
		return func(p garm.Pool) bool { return p.RunnerPrefix == want }
	}
	arch := func(want string) func(garm.Pool) bool {
		return func(p garm.Pool) bool { return p.OSArch == want }
	}
	for _, c := range []struct {
		name   string
		change func(*v1beta1.PoolSpec)
		puts   int
		is     func(garm.Pool) bool
	}{
		{"tags", func(s *v1beta1.PoolSpec) { s.Tags = []string{"z", "linux"} }, 1, tags("linux", "z")},
		{"order of tags", func(s *v1beta1.PoolSpec) { s.Tags = []string{"linux", "z"} }, 0, tags("linux", "z")},
		{"max", func(s *v1beta1.PoolSpec) { s.MaxRunners = 9 }, 1, func(p garm.Pool) bool { return p.MaxRunners == 9 }},
		{"extra specs", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{"a":"y"}` }, 1, specs(`{"a":"y"}`)},
		{"spelling of extra specs", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = ` { "a" : "y" } ` }, 0, specs(`{"a":"y"}`)},
		{"no extra specs", func(s *v1beta1.PoolSpec) { s.ExtraSpecs = "" }, 1, specs(`{}`)},
		{"prefix", func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "big" }, 1, prefix("big")},
		{"no prefix", func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "" }, 1, prefix("garm")},
		{"default prefix", func(s *v1beta1.PoolSpec) { s.RunnerPrefix = "garm" }, 0, prefix("garm")},
		{"flavor", func(s *v1beta1.PoolSpec) { s.Flavor = "huge" }, 1, func(p garm.Pool) bool { return p.Flavor == "huge" }},
		{"group", func(s *v1beta1.PoolSpec) { s.GitHubRunnerGroup = "blue" }, 1, func(p garm.Pool) bool { return p.RunnerGroup == "blue" }},
		{"disabled", func(s *v1beta1.PoolSpec) { s.Enabled = false }, 1, func(p garm.Pool) bool { return !p.Enabled }},
		{"min", func(s *v1beta1.PoolSpec) { s.MinIdleRunners = 3 }, 1, func(p garm.Pool) bool { return p.MinIdleRunners == 3 }},
		{"timeout", func(s *v1beta1.PoolSpec) { s.RunnerBootstrapTimeout = 30 }, 1, func(p garm.Pool) bool { return p.RunnerBootstrapTimeout == 30 }},
		{"arch synonym", func(s *v1beta1.PoolSpec) { s.OSArch = "x86_64" }, 0, arch("amd64")},
		{"arch", func(s *v1beta1.PoolSpec) { s.OSArch = "aarch64" }, 1, arch("arm64")},
		{"system", func(s *v1beta1.PoolSpec) { s.OSType = "windows" }, 1, func(p garm.Pool) bool { return p.OSType == "windows" }},
		{"another image", func(s *v1beta1.PoolSpec) { s.ImageName = "other" }, 1, func(p garm.Pool) bool { return p.Image == "debian-13" }},
		{"the first image", func(s *v1beta1.PoolSpec) { s.ImageName = stack.ImageName }, 1, func(p garm.Pool) bool { return p.Image == "ubuntu-24.04" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e.t = t
			before := e.Proxy.Counts()
			edit(e, pool, func(p *v1beta1.Pool) { c.change(&p.Spec) })
			e.ready(pool)
			if n := e.Proxy.Counts().Since(before).Of("PUT", "/pools/{id}", 0); n != c.puts {
				t.Errorf("%d PUTs, not %d: %s", n, c.puts, e.Proxy.Counts().Since(before))
			}
			at, err := e.GARM.GetPool(e.ctx, pool.Status.ID)
			if err != nil {
				t.Fatal(err)
			}
			if !c.is(at) {
				t.Errorf("the server has %+v", at)
			}
		})
	}
	e.t = t
	image := e.Image(stack.ImageName, "")
	before := e.Proxy.Counts()
	edit(e, image, func(i *v1beta1.Image) { i.Spec.Tag = "ubuntu-26.04" })
	e.eventually(func() error {
		if got := e.pools()[0].Image; got != "ubuntu-26.04" {
			return fmt.Errorf("the pool has image %q", got)
		}
		return nil
	})
	if n := e.Proxy.Counts().Since(before).Of("PUT", "/pools/{id}", 0); n != 1 {
		t.Errorf("%d PUTs for a new image, not 1", n)
	}
	e.told(pool, corev1.EventTypeNormal, "Updating", "updated imageName")
}
