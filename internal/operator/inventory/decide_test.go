package inventory

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/garm"
)

func TestDecide(t *testing.T) {
	up := facts{mirror: true, held: true, ready: true, known: true}
	with := func(change func(*facts)) facts {
		f := up
		change(&f)
		return f
	}
	for name, test := range map[string]struct {
		facts facts
		want  verdict
	}{
		"in place":                           {with(func(f *facts) { f.present, f.placed = true, true }), show},
		"in place, GARM is away":             {with(func(f *facts) { f.present, f.placed, f.ready = true, true, false }), show},
		"no Pool has the instance":           {with(func(f *facts) { f.present = true }), drop},
		"GARM says that it is gone":          {with(func(f *facts) { f.gone = true }), drop},
		"missing from a list":                {up, confirm},
		"missing from a list, GARM is away":  {with(func(f *facts) { f.ready = false }), leave},
		"nothing was listed yet":             {with(func(f *facts) { f.known = false }), leave},
		"of another controller":              {with(func(f *facts) { f.foreign = true }), drop},
		"mirror off":                         {facts{held: true}, drop},
		"mirror off, without finalizer":      {facts{}, drop},
		"deleted":                            {with(func(f *facts) { f.deleting, f.present, f.placed = true, true, true }), remove},
		"deleted, GARM is away":              {with(func(f *facts) { f.deleting, f.present, f.placed, f.ready = true, true, true, false }), await},
		"deleted, nothing was listed yet":    {with(func(f *facts) { f.deleting, f.known = true, false }), await},
		"deleted elsewhere":                  {with(func(f *facts) { f.deleting, f.present = true, true }), free},
		"deleted, missing from a list":       {with(func(f *facts) { f.deleting = true }), confirm},
		"deleted and gone":                   {with(func(f *facts) { f.deleting, f.gone = true, true }), free},
		"deleted, of another controller":     {with(func(f *facts) { f.deleting, f.foreign = true, true }), free},
		"deleted, the finalizer is not ours": {with(func(f *facts) { f.deleting, f.held, f.present, f.placed = true, false, true, true }), leave},
		"deleted, mirror off":                {facts{held: true, deleting: true}, free},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decide(test.facts); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestDecisionsAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.Bool()
		f := facts{
			mirror: b.Draw(t, "mirror"), deleting: b.Draw(t, "deleting"), held: b.Draw(t, "held"), ready: b.Draw(t, "ready"),
			known: b.Draw(t, "known"), foreign: b.Draw(t, "foreign"), present: b.Draw(t, "present"), gone: b.Draw(t, "gone"),
			placed: b.Draw(t, "placed"),
		}
		v := decide(f)
		if v == remove && (!f.deleting || !f.placed || !f.present || f.foreign || !f.mirror) {
			t.Error("an instance is removed that no user has asked for by deleting the object that shows it")
		}
		if (v == remove || v == confirm) && !f.ready {
			t.Error("a server is asked that cannot answer")
		}
		if (v == drop || v == free) && f.mirror && f.known && f.present && f.placed && !f.foreign {
			t.Error("the object of an instance that is there is let go")
		}
		if (v == drop || v == free) && f.mirror && !f.known {
			t.Error("an object is let go while nothing is known")
		}
		if (v == show || v == drop) && f.deleting {
			t.Error("an object that is being deleted is kept up or deleted again")
		}
	})
}

func TestRemovalOf(t *testing.T) {
	for _, test := range []struct {
		status garm.InstanceStatus
		runner garm.RunnerStatus
		want   removal
	}{
		{garm.InstanceRunning, garm.RunnerIdle, request},
		{garm.InstanceRunning, garm.RunnerPending, request},
		{garm.InstanceError, garm.RunnerFailed, request},
		{garm.InstanceStopped, garm.RunnerIdle, request},
		{garm.InstanceRunning, garm.RunnerActive, busy},
		{garm.InstanceError, garm.RunnerActive, busy},
		{garm.InstanceUnknown, garm.RunnerActive, busy},
		{garm.InstancePendingCreate, garm.RunnerPending, starting},
		{garm.InstanceCreating, garm.RunnerInstalling, starting},
		{garm.InstancePendingDelete, garm.RunnerIdle, leaving},
		{garm.InstancePendingForceDelete, garm.RunnerActive, leaving},
		{garm.InstanceDeleting, garm.RunnerTerminated, leaving},
		{garm.InstanceDeleted, "", leaving},
	} {
		if got := removalOf(garm.Instance{Status: test.status, RunnerStatus: test.runner}, false); got != test.want {
			t.Errorf("SV-19: %s and %s: got %d, want %d", test.status, test.runner, got, test.want)
		}
	}
}

// OP-26: force asks for what is refused without it, and for nothing that cannot be had.
func TestRemovalByForce(t *testing.T) {
	for _, test := range []struct {
		status garm.InstanceStatus
		runner garm.RunnerStatus
		want   removal
	}{
		{garm.InstanceRunning, garm.RunnerActive, request},
		{garm.InstanceError, garm.RunnerActive, request},
		{garm.InstancePendingDelete, garm.RunnerTerminated, request},
		{garm.InstancePendingForceDelete, garm.RunnerActive, leaving},
		{garm.InstanceDeleting, garm.RunnerTerminated, leaving},
		{garm.InstanceCreating, garm.RunnerPending, starting},
	} {
		if got := removalOf(garm.Instance{Status: test.status, RunnerStatus: test.runner}, true); got != test.want {
			t.Errorf("%s and %s: got %d, want %d", test.status, test.runner, got, test.want)
		}
	}
}

func TestAttempts(t *testing.T) {
	var a attempts
	now := time.Unix(0, 0)
	uid, idle := types.UID("1"), state{status: garm.InstanceRunning, runner: garm.RunnerIdle}
	for _, want := range []float64{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := a.note(uid, idle, now, 0).Seconds(); got != want {
			t.Fatalf("a rest of %v s, want %v", got, want)
		}
	}
	if got := a.rest(uid, idle, now.Add(20*time.Second)); got != 40*time.Second {
		t.Errorf("40 s are left, not %s", got)
	}
	if got := a.rest(uid, idle, now.Add(time.Hour)); got != 0 {
		t.Errorf("nothing is left, not %s", got)
	}
	stopped := idle
	stopped.status = garm.InstanceStopped
	if got := a.rest(uid, stopped, now); got != 0 {
		t.Errorf("a change ends the rest, %s is left", got)
	}
	if got := a.note(uid, stopped, now, time.Hour); got != time.Hour {
		t.Errorf("the server asked for an hour, got %s", got)
	}
	a.forget(uid)
	if got := a.rest(uid, stopped, now); got != 0 || len(a.last) != 0 {
		t.Error("what is gone is remembered")
	}
}
