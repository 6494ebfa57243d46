package server_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/provider"
)

// program runs the server as a process of its own and waits until it answers.
func (w *world) program() *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := os.OpenFile(filepath.Join(w.dir, "garm.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(w.t.Context(), self, asServer, "-config", w.configFile())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { kill(cmd) })
	w.await(func() error {
		r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/api/v1/controller-info", http.NoBody)
		if err != nil {
			return err
		}
		response, err := browser.Do(r)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	return cmd
}

// kill ends a process as a power loss does.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// The server dies in the middle of creates and of deletions. After a restart all rows come to rest, and no runner ever
// has two machines.
func TestSV28PowerLoss(t *testing.T) {
	t.Parallel()
	const runners = 3
	w := newWorld(t, options{outside: true})
	server := w.program()
	w.setUp(options{})
	w.park.behave(t, behaviour{CreateDelay: time.Hour})
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = runners, runners })
	w.await(func() error {
		if got := len(w.park.names()); got != runners {
			return fmt.Errorf("%d machines", got)
		}
		return nil
	})
	w.settled(runners, wire.InstanceCreating)
	kill(server)
	w.park.behave(t, behaviour{})

	restarted := time.Now()
	server = w.program()
	made := w.settled(runners, wire.InstanceRunning)
	if calls := w.park.calls(t, provider.CreateInstance); len(calls) != runners {
		t.Errorf("%d machines were made for %d runners: %+v", len(calls), runners, calls)
	}

	settledInAMinute(t, restarted)
	w.park.behave(t, behaviour{DeleteDelay: time.Hour})
	for _, i := range made {
		if err := w.client.DeleteInstance(t.Context(), i.Name, false); err != nil {
			t.Fatal(err)
		}
	}
	w.settled(runners, wire.InstanceDeleting)
	kill(server)
	w.park.behave(t, behaviour{})

	restarted = time.Now()
	w.program()
	w.await(func() error {
		for _, i := range w.instances() {
			for _, old := range made {
				if i.ID == old.ID {
					return fmt.Errorf("%s is still there, %s", i.Name, i.Status)
				}
			}
		}
		return nil
	})
	w.settled(runners, wire.InstanceRunning)
	w.await(func() error {
		if got := len(w.park.names()); got != runners {
			return fmt.Errorf("%d machines for %d runners", got, runners)
		}
		return nil
	})
	settledInAMinute(t, restarted)
}

func settledInAMinute(t *testing.T, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > time.Minute {
		t.Errorf("the rows have come to rest %s after the restart", took)
	}
}
