package pool

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/garm"
)

func yes(string) bool { return true }

func no(string) bool { return false }

// OP-35: idle runners that were made before the last change are replaced one at a time.
func TestOP35Rotation(t *testing.T) {
	runner := func(name string, generation uint64, runner garm.RunnerStatus, status garm.InstanceStatus) garm.Instance {
		return garm.Instance{ID: name, Name: name, Generation: generation, RunnerStatus: runner, Status: status}
	}
	idle := func(name string, generation uint64) garm.Instance {
		return runner(name, generation, garm.RunnerIdle, garm.InstanceRunning)
	}
	later := idle("a", 0)
	later.UpdatedAt = time.Unix(9, 0)
	pool := func(generation uint64, minIdle, most uint) *garm.Pool {
		return &garm.Pool{Enabled: true, Generation: generation, MinIdleRunners: minIdle, MaxRunners: most}
	}
	disabled := pool(1, 1, 2)
	disabled.Enabled = false
	asked := func(id string) func(string) bool { return func(other string) bool { return other == id } }
	for name, c := range map[string]struct {
		pool            *garm.Pool
		instances       []garm.Instance
		named           []string
		pending, rested func(string) bool
		next            string
		left, waiting   bool
	}{
		"none":                       {pool: pool(2, 1, 2), instances: []garm.Instance{idle("a", 2)}},
		"an older generation":        {pool: pool(2, 2, 2), instances: []garm.Instance{idle("a", 2), idle("b", 1)}, next: "b", left: true, waiting: true},
		"named":                      {pool: pool(0, 2, 2), instances: []garm.Instance{idle("a", 0), idle("b", 0)}, named: []string{"b"}, next: "b", left: true, waiting: true},
		"names do not count":         {pool: pool(2, 1, 2), instances: []garm.Instance{idle("b", 2)}, named: []string{"b"}},
		"idle for longest":           {pool: pool(1, 2, 2), instances: []garm.Instance{later, idle("b", 0)}, next: "b", left: true, waiting: true},
		"busy ones stay":             {pool: pool(1, 1, 2), instances: []garm.Instance{runner("a", 0, garm.RunnerActive, garm.InstanceRunning)}, left: true},
		"one is on its way":          {pool: pool(1, 0, 2), instances: []garm.Instance{idle("a", 0), runner("b", 0, garm.RunnerIdle, garm.InstanceDeleting)}, left: true, waiting: true},
		"one was just asked to go":   {pool: pool(1, 0, 2), instances: []garm.Instance{idle("a", 0), idle("b", 0)}, pending: asked("b"), left: true, waiting: true},
		"the successor is not there": {pool: pool(1, 2, 4), instances: []garm.Instance{idle("a", 0), runner("b", 1, garm.RunnerInstalling, garm.InstanceRunning)}, left: true, waiting: true},
		"no room for a successor":    {pool: pool(1, 2, 2), instances: []garm.Instance{idle("a", 0), runner("b", 1, garm.RunnerActive, garm.InstanceRunning)}, next: "a", left: true, waiting: true},
		"more than needed":           {pool: pool(1, 1, 4), instances: []garm.Instance{idle("a", 0), idle("b", 1)}, next: "a", left: true, waiting: true},
		"a disabled pool":            {pool: disabled, instances: []garm.Instance{idle("a", 0)}, left: true, waiting: true},
		"one that was refused":       {pool: pool(1, 2, 2), instances: []garm.Instance{idle("a", 0), idle("b", 0)}, rested: asked("b"), next: "b", left: true, waiting: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.pending == nil {
				c.pending = no
			}
			if c.rested == nil {
				c.rested = yes
			}
			r := rotationOf(c.pool, c.instances, c.named, asking{pending: c.pending, rested: c.rested, now: time.Now()})
			got := ""
			if r.next != nil {
				got = r.next.Name
			}
			if got != c.next || r.left != c.left || r.waiting != c.waiting {
				t.Errorf("next %q, left %t, waiting %t; want %q, %t, %t", got, r.left, r.waiting, c.next, c.left, c.waiting)
			}
		})
	}
}

// A runner that has just become idle is left for the job that GitHub may be assigning to it, as it is when there are too many.
func TestOP35RotationLeavesARunnerForItsJob(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	idle := func(name string, since time.Duration) garm.Instance {
		return garm.Instance{ID: name, Name: name, RunnerStatus: garm.RunnerIdle, Status: garm.InstanceRunning, UpdatedAt: now.Add(-since)}
	}
	pool := &garm.Pool{Enabled: true, Generation: 1, MinIdleRunners: 1, MaxRunners: 4}
	for name, c := range map[string]struct {
		age       time.Duration
		instances []garm.Instance
		rested    func(string) bool
		next      string
		ripe      time.Duration
	}{
		"just idle":            {time.Hour, []garm.Instance{idle("a", 0)}, yes, "", jobGrace},
		"idle for a moment":    {time.Hour, []garm.Instance{idle("a", 5*time.Second)}, yes, "", jobGrace - 5*time.Second},
		"idle for long enough": {time.Hour, []garm.Instance{idle("a", jobGrace)}, yes, "a", 0},
		"of two the older one": {time.Hour, []garm.Instance{idle("a", 0), idle("b", jobGrace)}, yes, "b", 0},
		"the older one rests":  {time.Hour, []garm.Instance{idle("a", time.Second), idle("b", time.Hour)}, func(id string) bool { return id != "b" }, "", jobGrace - time.Second},
		"surplus ones go soon": {time.Second, []garm.Instance{idle("a", time.Second)}, yes, "a", 0},
	} {
		r := rotationOf(pool, c.instances, nil, asking{pending: no, rested: c.rested, grace: graceOf(c.age), now: now})
		next := ""
		if r.next != nil {
			next = r.next.Name
		}
		if next != c.next || r.ripe != c.ripe {
			t.Errorf("%s: next %q, ripe in %s; want %q, %s", name, next, r.ripe, c.next, c.ripe)
		}
		// What rotation may remove, a Pool without idle runners may, too, and nothing else.
		surplus := surplusOf(c.instances, 0, c.age, now)
		may := slices.ContainsFunc(surplus.remove, func(i garm.Instance) bool { return i.Name == next })
		if next != "" && !may {
			t.Errorf("%s: %q is no surplus", name, next)
		}
		if next == "" && c.rested("b") && len(surplus.remove) > 0 {
			t.Errorf("%s: %d are surplus", name, len(surplus.remove))
		}
	}
}

// Whatever happens meanwhile: a busy runner is never chosen, and no more than one idle runner is missing because of it. In
// the end all idle runners are of the newest generation.
func TestOP35RotationEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 8).Draw(t, "max")
		pool := &garm.Pool{
			Enabled: true, Generation: 1, MaxRunners: uint(most), MinIdleRunners: uint(rapid.IntRange(1, most).Draw(t, "min")),
		}
		var all []garm.Instance
		made := 0
		add := func(generation uint64, status garm.RunnerStatus) {
			made++
			all = append(all, garm.Instance{
				ID: fmt.Sprint(made), Name: fmt.Sprint(made), Generation: generation, RunnerStatus: status, Status: garm.InstanceRunning,
			})
		}
		count := func(status garm.RunnerStatus) (n int) {
			for _, i := range all {
				if i.RunnerStatus == status {
					n++
				}
			}
			return n
		}
		for range pool.MinIdleRunners {
			add(0, garm.RunnerIdle)
		}
		for range 200 {
			switch r := rotationOf(pool, all, nil, asking{pending: no, rested: yes}); {
			case r.next != nil:
				if r.next.RunnerStatus != garm.RunnerIdle {
					t.Fatalf("%+v was chosen", r.next)
				}
				if want := min(int(pool.MinIdleRunners), most-count(garm.RunnerActive)); count(garm.RunnerIdle) < want {
					t.Fatalf("one of %d idle runners was chosen, %d should be", count(garm.RunnerIdle), want)
				}
				all = slices.DeleteFunc(all, func(i garm.Instance) bool { return i.ID == r.next.ID })
			case !r.waiting && count(garm.RunnerPending) == 0:
				for _, i := range all {
					if i.RunnerStatus == garm.RunnerIdle && i.Generation == 0 {
						t.Fatalf("%+v is left", i)
					}
				}
				return
			}
			// The server makes up for what is missing; runners come up, jobs begin.
			for len(all) < most && count(garm.RunnerIdle)+count(garm.RunnerPending) < int(pool.MinIdleRunners) {
				add(1, garm.RunnerPending)
			}
			for i := range all {
				switch {
				case all[i].RunnerStatus == garm.RunnerPending && rapid.Bool().Draw(t, "comes up"):
					all[i].RunnerStatus = garm.RunnerIdle
				case all[i].RunnerStatus == garm.RunnerIdle && made < 30 && rapid.IntRange(0, 9).Draw(t, "job") == 0:
					all[i].RunnerStatus = garm.RunnerActive
				}
			}
		}
		t.Fatalf("not over: %+v", all)
	})
}

// A revision tells a pool that has changed from one that has not, as exactly as the server does.
func TestRevision(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 123456789, time.UTC)
	for name, c := range map[string]struct {
		before, after garm.Pool
		want          bool
	}{
		"v0.1.5 does not tell":     {before: garm.Pool{}, after: garm.Pool{Image: "i"}},
		"another time":             {before: garm.Pool{UpdatedAt: at}, after: garm.Pool{UpdatedAt: at.Add(time.Second)}, want: true},
		"the same, less exactly":   {before: garm.Pool{UpdatedAt: at}, after: garm.Pool{UpdatedAt: at.Truncate(time.Microsecond)}},
		"the first generation":     {before: garm.Pool{UpdatedAt: at}, after: garm.Pool{UpdatedAt: at, Generation: 1}, want: true},
		"another generation":       {before: garm.Pool{Generation: 1}, after: garm.Pool{Generation: 2}, want: true},
		"what concerns no runners": {before: garm.Pool{Generation: 1, UpdatedAt: at}, after: garm.Pool{Generation: 1, UpdatedAt: at.Add(time.Hour)}},
	} {
		if got := changedSince(revision(&c.before), &c.after); got != c.want {
			t.Errorf("%s: changed %t", name, got)
		}
	}
}
