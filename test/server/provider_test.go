package server_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/provider"
)

func TestMinimumIsReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners = 3 })
	for _, i := range w.settled(3, wire.InstanceRunning) {
		w.report(i, "idle")
	}
	if got := len(w.park.calls(t, provider.CreateInstance)); got != 3 {
		t.Errorf("%d machines were made, want 3", got)
	}
	if got := w.github.CallsTo("POST", "/generate-jitconfig"); got != 3 {
		t.Errorf("%d registrations, want 3", got)
	}
}

// Whatever the provider answers: it is asked once, there is one machine, and what is wrong stands in the row.
func TestSV37AnswersOfTheProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	for _, c := range []struct {
		status string
		want   wire.InstanceStatus
		fault  string
	}{
		{"running", wire.InstanceRunning, ""},
		{"stopped", wire.InstanceStopped, ""},
		{"unknown", wire.InstanceUnknown, ""},
		{"", wire.InstanceError, "status"},
		{"foo", wire.InstanceError, "foo"},
		{"pending_create", wire.InstanceError, "pending_create"},
		{"creating", wire.InstanceError, "creating"},
		{"deleting", wire.InstanceError, "deleting"},
	} {
		t.Run("SV-37 status="+c.status, func(t *testing.T) {
			w.park.behave(t, behaviour{Answer: strings.Replace(running("$NAME"), `"running"`, fmt.Sprintf("%q", c.status), 1)})
			made := len(w.park.calls(t, provider.CreateInstance))
			pool := w.pool(func(p *wire.CreatePoolParams) {
				p.MinIdleRunners, p.MaxRunners, p.Tags = 1, 1, []string{"status-" + c.status + "-x"}
			})
			i := w.settled(1, c.want)[0]
			var one wire.Instance
			var failures []wire.StatusMessage
			w.await(func() (err error) {
				if one, err = w.client.GetInstance(t.Context(), i.Name); err != nil {
					return err
				}
				failures = slices.DeleteFunc(one.StatusMessages, func(m wire.StatusMessage) bool { return m.EventLevel != "error" })
				if c.fault != "" && len(failures) == 0 {
					return errors.New("nobody was told")
				}
				return nil
			})
			if !strings.Contains(string(one.ProviderFault), c.fault) || (c.fault == "") != (len(one.ProviderFault) == 0) {
				t.Errorf("the fault is %q, want it to name %q", one.ProviderFault, c.fault)
			}
			if want := min(len(c.fault), 1); len(failures) != want {
				t.Errorf("%d messages of an error, want %d: %+v", len(failures), want, failures)
			}
			w.updatePool(pool.ID, wire.UpdatePoolParams{MinIdleRunners: new(uint), Enabled: new(bool)})
			if err := w.client.DeleteInstance(t.Context(), i.Name, false); err != nil {
				t.Fatal(err)
			}
			w.settled(0, "")
			if got := len(w.park.calls(t, provider.CreateInstance)) - made; got != 1 {
				t.Errorf("%d creates, want 1", got)
			}
			if left := w.park.names(); len(left) != 0 {
				t.Errorf("machines are left: %v", left)
			}
		})
	}
}

func TestSV38HangingProviderIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{execTimeout: 10})
	w.park.behave(t, behaviour{CreateDelay: time.Hour, Child: true})
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
	i := w.settled(1, wire.InstanceError)[0]
	if !strings.Contains(string(i.ProviderFault), "killed") {
		t.Errorf("the fault is %q", i.ProviderFault)
	}
	c := w.park.calls(t, provider.CreateInstance)[0]
	if c.Child == 0 {
		t.Fatal("the provider has started no child")
	}
	for name, pid := range map[string]int{"the provider": c.PID, "its child": c.Child} {
		w.await(func() error {
			if alive(pid) {
				return fmt.Errorf("%s (%d) is still there", name, pid)
			}
			return nil
		})
	}
}

// alive says whether a process runs; one that only waits for its parent to take notice does not.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestSV23NeverTwoMachinesWhenTheCleanUpFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.park.behave(t, behaviour{CreateExit: 1, DeleteExit: 1})
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
	i := w.settled(1, wire.InstanceError)[0]
	if !strings.Contains(string(i.ProviderFault), "no capacity left") {
		t.Errorf("the fault is %q", i.ProviderFault)
	}
	w.await(func() error {
		if got := len(w.park.calls(t, provider.DeleteInstance)); got < 1 {
			return errors.New("no clean-up yet")
		}
		return nil
	})
	w.settled(1, wire.InstanceError)
	if got := len(w.park.calls(t, provider.CreateInstance)); got != 1 {
		t.Errorf("%d creates before a clean-up worked, want 1", got)
	}
	w.park.behave(t, behaviour{})
	w.settled(1, wire.InstanceRunning)
	for _, c := range append(w.park.calls(t, provider.CreateInstance), w.park.calls(t, provider.DeleteInstance)...) {
		if c.Machines > 1 {
			t.Errorf("%d machines at a time", c.Machines)
		}
	}
}

// In the case of one that is gone already, removing it is done.
func TestSV39MachineThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
	i := w.settled(1, wire.InstanceRunning)[0]
	w.updatePool(pool.ID, wire.UpdatePoolParams{Enabled: new(bool)})
	if err := os.Remove(w.park.machine(i.Name)); err != nil {
		t.Fatal(err)
	}
	if err := w.client.DeleteInstance(t.Context(), i.Name, false); err != nil {
		t.Fatal(err)
	}
	w.settled(0, "")
}
