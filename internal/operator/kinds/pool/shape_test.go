package pool

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
)

func spec(change func(*v1beta1.PoolSpec)) v1beta1.PoolSpec {
	s := v1beta1.PoolSpec{
		ProviderName: "p", MaxRunners: 3, MinIdleRunners: 1, Flavor: "f", OSType: "linux", OSArch: "amd64", Tags: []string{"B", "a"},
		Enabled: true, RunnerBootstrapTimeout: 20, ImageName: "i",
	}
	if change != nil {
		change(&s)
	}
	return s
}

func remotePool(change func(*garm.Pool)) *garm.Pool {
	p := &garm.Pool{
		ProviderName: "p", MaxRunners: 3, MinIdleRunners: 1, Flavor: "f", OSType: "linux", OSArch: "amd64", Image: "img",
		Tags: []garm.Tag{{Name: "a"}, {Name: "b"}}, Enabled: true, RunnerBootstrapTimeout: 20, RunnerPrefix: "garm",
	}
	if change != nil {
		change(p)
	}
	return p
}

// OP-5: what a server writes differently is no difference.
func TestDiff(t *testing.T) {
	for name, c := range map[string]struct {
		spec   func(*v1beta1.PoolSpec)
		remote func(*garm.Pool)
		want   []string
	}{
		"equal":                      {},
		"default prefix":             {remote: func(p *garm.Pool) { p.RunnerPrefix = "" }},
		"timeout 0 reads 20":         {spec: func(s *v1beta1.PoolSpec) { s.RunnerBootstrapTimeout = 0 }},
		"repeated tags":              {remote: func(p *garm.Pool) { p.Tags = append(p.Tags, garm.Tag{Name: "a"}) }},
		"arch synonym":               {spec: func(s *v1beta1.PoolSpec) { s.OSArch = "x86_64" }},
		"priority is not ours":       {remote: func(p *garm.Pool) { p.Priority = 7 }},
		"priority that is asked for": {spec: func(s *v1beta1.PoolSpec) { s.Priority = new(int64(3)) }, remote: func(p *garm.Pool) { p.Priority = 7 }, want: []string{fieldRank}},
		"priority 0 is asked for":    {spec: func(s *v1beta1.PoolSpec) { s.Priority = new(int64(0)) }, remote: func(p *garm.Pool) { p.Priority = 7 }, want: []string{fieldRank}},
		"priority as asked for":      {spec: func(s *v1beta1.PoolSpec) { s.Priority = new(int64(7)) }, remote: func(p *garm.Pool) { p.Priority = 7 }},
		"JSON by meaning":            {spec: func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{"b": "<", "a": 1}` }, remote: func(p *garm.Pool) { p.ExtraSpecs = json.RawMessage(`{"a":1,"b":"\u003c"}`) }},
		"null, {} and nothing":       {spec: func(s *v1beta1.PoolSpec) { s.ExtraSpecs = "null" }, remote: func(p *garm.Pool) { p.ExtraSpecs = json.RawMessage(`{}`) }},
		"other extra specs":          {spec: func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{"a":2}` }, remote: func(p *garm.Pool) { p.ExtraSpecs = json.RawMessage(`{"a":1}`) }, want: []string{fieldExtra}},
		"OP-6 cleared extra specs":   {remote: func(p *garm.Pool) { p.ExtraSpecs = json.RawMessage(`{"a":1}`) }, want: []string{fieldExtra}},
		"OP-6 cleared prefix":        {remote: func(p *garm.Pool) { p.RunnerPrefix = "x" }, want: []string{fieldPrefix}},
		"several, in a fixed order":  {remote: func(p *garm.Pool) { p.Flavor, p.MaxRunners, p.Enabled = "g", 9, false }, want: []string{fieldMax, fieldFlavor, fieldEnabled}},
		"tags":                       {spec: func(s *v1beta1.PoolSpec) { s.Tags = []string{"c"} }, want: []string{fieldTags}},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := shapeOf(spec(c.spec), "img")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, diff(want, seen(remotePool(c.remote)), true)); d != "" {
				t.Error(d)
			}
		})
	}
}

// OP-11: tags that a server adds are borne; one that it lacks, or another field beside them, is not.
func TestTagsThatTheServerAdds(t *testing.T) {
	want, err := shapeOf(spec(nil), "img")
	if err != nil {
		t.Fatal(err)
	}
	a := &actuator{want: want}
	for name, c := range map[string]struct {
		tags   []string
		fields []string
		want   bool
	}{
		"two more":         {[]string{"self-hosted", "A", "b", "x64"}, []string{fieldTags}, true},
		"one is missing":   {[]string{"a", "self-hosted"}, []string{fieldTags}, false},
		"none":             {nil, []string{fieldTags}, false},
		"a flavor as well": {[]string{"a", "b", "c"}, []string{fieldFlavor, fieldTags}, false},
		"a flavor alone":   {[]string{"a", "b"}, []string{fieldFlavor}, false},
	} {
		pool := remotePool(func(p *garm.Pool) {
			p.Tags = nil
			for _, tag := range c.tags {
				p.Tags = append(p.Tags, garm.Tag{Name: tag})
			}
		})
		if got := a.Bears(pool, c.fields); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An update brings the server to what is wanted, also where leaving a field out would keep the old value.
func TestUpdateClearsFields(t *testing.T) {
	want, err := shapeOf(spec(nil), "img")
	if err != nil {
		t.Fatal(err)
	}
	p := updateParams(spec(nil), want, []string{fieldPrefix, fieldExtra, fieldGroup})
	if p.RunnerPrefix != "garm" || string(p.ExtraSpecs) != "{}" || p.RunnerGroup == nil || *p.RunnerGroup != "" {
		t.Errorf("%+v", p)
	}
	if p.MaxRunners != nil || p.Tags != nil || p.Image != "" {
		t.Errorf("fields are sent that do not differ: %+v", p)
	}
}

func TestShapeRefusesWhatServersChokeOn(t *testing.T) {
	for field, change := range map[string]func(*v1beta1.PoolSpec){
		"extraSpecs is not JSON": func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{bad` },
		"extraSpecs is a bare":   func(s *v1beta1.PoolSpec) { s.ExtraSpecs = ` 7 ` },
		"extraSpecs holds more":  func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{} {}` },
		"or something after":     func(s *v1beta1.PoolSpec) { s.ExtraSpecs = `{}}` },
		"spec.minIdleRunners":    func(s *v1beta1.PoolSpec) { s.MinIdleRunners = 9 },
		"spec.maxRunners":        func(s *v1beta1.PoolSpec) { s.MaxRunners, s.MinIdleRunners = 0, 0 },
		"spec.runnerBootstrap":   func(s *v1beta1.PoolSpec) { s.RunnerBootstrapTimeout = 1<<20 + 1 },
		"spec.flavor":            func(s *v1beta1.PoolSpec) { s.Flavor = "" },
		"spec.tags":              func(s *v1beta1.PoolSpec) { s.Tags = nil },
		"spec.osType":            func(s *v1beta1.PoolSpec) { s.OSType = "mac" },
		"spec.osArch":            func(s *v1beta1.PoolSpec) { s.OSArch = "i386" },
	} {
		if _, err := shapeOf(spec(change), "img"); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, fine := range []string{"", "null", "{}", `[1]`, `"x"`, "true", `{"n": 1.50}`} {
		if _, err := shapeOf(spec(func(s *v1beta1.PoolSpec) { s.ExtraSpecs = fine }), "img"); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

func TestSurplus(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	runner := func(id string, age time.Duration, runner garm.RunnerStatus, status garm.InstanceStatus) garm.Instance {
		return garm.Instance{ID: id, UpdatedAt: now.Add(-age), RunnerStatus: runner, Status: status}
	}
	old := func(id string) garm.Instance { return runner(id, 3*time.Hour, garm.RunnerIdle, garm.InstanceRunning) }
	young := func(id string) garm.Instance { return runner(id, time.Minute, garm.RunnerIdle, garm.InstanceRunning) }
	for name, c := range map[string]struct {
		min       int
		instances []garm.Instance
		remove    []string
		old       int
		next      time.Duration
	}{
		"none":                           {min: 1},
		"enough":                         {min: 2, instances: []garm.Instance{old("a"), old("b")}, old: 2},
		"surplus":                        {min: 1, instances: []garm.Instance{old("a"), old("b"), young("c")}, remove: []string{"a"}, old: 1, next: 2*time.Hour - time.Minute},
		"to zero, the young ones too":    {min: 0, instances: []garm.Instance{old("a"), young("b")}, remove: []string{"a", "b"}, next: 2*time.Hour - time.Minute},
		"only young: no underflow":       {min: 0, instances: []garm.Instance{young("a"), young("b")}, remove: []string{"a", "b"}, next: 2*time.Hour - time.Minute},
		"one that has just become idle":  {min: 0, instances: []garm.Instance{runner("a", 5*time.Second, garm.RunnerIdle, garm.InstanceRunning)}, next: 10 * time.Second},
		"busy ones are never touched":    {min: 0, instances: []garm.Instance{runner("a", 9*time.Hour, garm.RunnerActive, garm.InstanceRunning)}},
		"one that is on its way already": {min: 0, instances: []garm.Instance{runner("a", 9*time.Hour, garm.RunnerIdle, garm.InstancePendingDelete)}, old: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := surplusOf(c.instances, c.min, 2*time.Hour, now)
			var ids []string
			for _, i := range s.remove {
				ids = append(ids, i.ID)
			}
			if d := cmp.Diff(c.remove, ids); d != "" {
				t.Error(d)
			}
			if s.old != c.old || s.next != c.next {
				t.Errorf("old %d, next %s; want %d, %s", s.old, s.next, c.old, c.next)
			}
		})
	}
}

// OP-21: busy runners and those that start are waited for.
func TestSortRunners(t *testing.T) {
	instances := []garm.Instance{
		{ID: "busy", RunnerStatus: garm.RunnerActive, Status: garm.InstanceRunning},
		{ID: "busy, machine failed", RunnerStatus: garm.RunnerActive, Status: garm.InstanceError},
		{ID: "creating", RunnerStatus: garm.RunnerPending, Status: garm.InstanceCreating},
		{ID: "installing", RunnerStatus: garm.RunnerInstalling, Status: garm.InstanceRunning},
		{ID: "idle", RunnerStatus: garm.RunnerIdle, Status: garm.InstanceRunning},
		{ID: "failed", RunnerStatus: garm.RunnerFailed, Status: garm.InstanceRunning},
		{ID: "error", RunnerStatus: garm.RunnerPending, Status: garm.InstanceError},
		{ID: "going", RunnerStatus: garm.RunnerIdle, Status: garm.InstanceDeleting},
		{ID: "to go", RunnerStatus: garm.RunnerIdle, Status: garm.InstancePendingDelete},
	}
	r := sortRunners(instances, false)
	if r.busy != 2 || r.starting != 1 || r.leaving != 2 || len(r.removable) != 4 {
		t.Errorf("%+v", r)
	}
	if got, want := r.String(), "2 busy with a job, 1 starting, 6 being removed"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	r = sortRunners(instances, true)
	if r.busy != 0 || r.starting != 1 || r.leaving != 1 || len(r.removable) != 7 {
		t.Errorf("OP-26: by force %+v", r)
	}
	r = remaining{removable: instances[:1], kept: 1, why: "it runs a job", forced: true}
	if got, want := r.String(), "1 kept by the GARM server, which says: it runs a job"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
