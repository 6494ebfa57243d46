package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	wire "github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/dev/githubsim"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
)

// At the limit the server stops calling: what was under way ends, then there is nothing until the reset.
func TestSV52RateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{limits: fleet.Limits{SweepEvery: 200 * time.Millisecond}})
	w.await(w.healthy("acme", true))
	w.github.SetRateLimit(token, 5000, 0, time.Now().Add(time.Hour))
	w.github.ResetCalls()
	const runners = 20
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = runners, runners })
	w.await(w.healthy("acme", false))
	w.settled(runners, wire.InstancePendingCreate)
	total := func() (n int) {
		for _, count := range w.github.Calls() {
			n += count
		}
		return n
	}
	// Several sweeps and tries would fit in here.
	<-time.After(2 * time.Second)
	if got, most := total(), 10+1; got > most {
		t.Errorf("%d calls at the limit, more than the %d that can be under way: %v", got, most, w.github.Calls())
	}
	if n := strings.Count(w.log.String(), "cannot be used"); n != 1 {
		t.Errorf("the log says %d times that the limit is reached, want once", n)
	}
	if got := len(w.github.Runners("")); got != 0 {
		t.Errorf("%d runners are registered", got)
	}
}

// healthy checks the health of an organization.
func (w *world) healthy(name string, want bool) func() error {
	return func() error {
		orgs, err := w.client.ListOrganizations(w.t.Context())
		if err != nil {
			return err
		}
		for _, o := range orgs {
			if o.Name == name && o.PoolManagerStatus.Running == want && (want || o.PoolManagerStatus.FailureReason != "") {
				return nil
			}
		}
		return fmt.Errorf("%s is not as it should be: %+v", name, orgs)
	}
}

// A runner that has just taken a job is not removed, whoever asks, and its machine stays.
func TestSV19BusyRunnerSurvives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{limits: fleet.Limits{ScaleDownGrace: 10 * time.Millisecond}})
	pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
	i := w.settled(1, wire.InstanceRunning)[0]
	w.report(i, "idle")
	if _, err := w.github.AddFault(githubsim.Fault{Match: "^DELETE .*/actions/runners/", Status: http.StatusUnprocessableEntity}); err != nil {
		t.Fatal(err)
	}
	w.updatePool(pool.ID, wire.UpdatePoolParams{MinIdleRunners: new(uint)})
	w.await(func() error {
		if w.github.CallsTo("DELETE", "/actions/runners/{id}") == 0 {
			return fmt.Errorf("GitHub was not asked: %v", w.github.Calls())
		}
		return nil
	})
	err := w.client.DeleteInstance(t.Context(), i.Name, false)
	if wire.KindOf(err) != wire.KindConflict {
		t.Errorf("its removal by hand answers %v, want a conflict", err)
	}
	if got := w.settled(1, wire.InstanceRunning)[0]; got.ID != i.ID {
		t.Errorf("another instance has taken its place: %s", got.Name)
	}
	if calls := w.park.calls(t, provider.DeleteInstance); len(calls) != 0 {
		t.Errorf("its machine was removed: %+v", calls)
	}
}

// Runners that others have made stay, offline or not, even with the name of one of ours.
func TestSV25ForeignRunnersStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{limits: fleet.Limits{SweepEvery: 100 * time.Millisecond}})
	for _, name := range []string{"by-hand", "garm-of-another"} {
		body := fmt.Sprintf(`{"name":%q,"runner_group_id":1,"labels":["self-hosted","linux","runner-controller-id:11111111-2222-3333-4444-555555555555"]}`, name)
		w.callForge(http.MethodPost, "/orgs/acme/actions/runners/generate-jitconfig", body)
	}
	before := w.github.CallsTo("GET", "/actions/runners")
	w.await(func() error {
		if got := w.github.CallsTo("GET", "/actions/runners") - before; got < 5 {
			return fmt.Errorf("%d sweeps", got)
		}
		return nil
	})
	if got := w.github.CallsTo("DELETE", "/actions/runners/{id}"); got != 0 || len(w.github.Runners("")) != 2 {
		t.Errorf("%d removals, %d runners are left of 2", got, len(w.github.Runners("")))
	}
}

// callForge makes a call of GitHub's API as somebody else would.
func (w *world) callForge(method, path, body string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.github.URL()+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := browser.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		w.t.Fatalf("%s %s answers %s", method, path, response.Status)
	}
}

// An entity whose credentials are refused says so and holds up nobody, also at the start.
func TestSV57BadCredentialsStopNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{outside: true})
	server := w.program()
	w.setUp(options{})
	if _, err := w.client.CreateCredentials(t.Context(), wire.CreateCredentialsParams{Name: "bad", Endpoint: "sim", AuthType: "pat", PAT: &wire.PAT{OAuth2Token: "ghp_revoked"}}); err != nil {
		t.Fatal(err)
	}
	w.organization("broken", "bad")
	w.await(w.healthy("broken", false))
	kill(server)
	w.program()
	w.await(w.healthy("broken", false))
	w.await(w.healthy("acme", true))
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners = 1 })
	w.settled(1, wire.InstanceRunning)
}

// A new token is used at once, without a restart.
func TestSV8RotatedToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.await(w.healthy("acme", true))
	pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners = 1 })
	w.settled(1, wire.InstanceRunning)
	w.github.AddToken("ghp_rotated", githubsim.Token{Login: "robot"})
	w.github.RevokeToken(token)
	list, err := w.client.ListCredentials(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("credentials: %v, %v", list, err)
	}
	if _, err := w.client.UpdateCredentials(t.Context(), list[0].ID, wire.UpdateCredentialsParams{PAT: &wire.PAT{OAuth2Token: "ghp_rotated"}}); err != nil {
		t.Fatal(err)
	}
	two := uint(2)
	w.updatePool(pool.ID, wire.UpdatePoolParams{MinIdleRunners: &two})
	w.settled(2, wire.InstanceRunning)
	w.await(w.healthy("acme", true))
}

// A disabled pool makes nothing, and what it has goes by and by.
func TestSV29DisabledPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners = 1 })
	i := w.settled(1, wire.InstanceRunning)[0]
	two := uint(2)
	w.updatePool(pool.ID, wire.UpdatePoolParams{Enabled: new(bool), MinIdleRunners: &two})
	if code := w.hook("queued", 1, ""); code != http.StatusOK {
		t.Errorf("the hook answers %d", code)
	}
	if err := w.client.DeleteInstance(t.Context(), i.Name, false); err != nil {
		t.Fatal(err)
	}
	w.settled(0, "")
	if got := len(w.park.calls(t, provider.CreateInstance)); got != 1 {
		t.Errorf("%d creates, want 1, from before", got)
	}
}

// However many hooks come at once, there are never more runners than allowed, and each registration has one.
func TestSV20ParallelHooks(t *testing.T) {
	t.Parallel()
	const most = 8
	w := newWorld(t, options{})
	w.await(w.healthy("acme", true))
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 4, most })
	var group sync.WaitGroup
	for job := range 50 {
		group.Go(func() {
			if code := w.hook("queued", int64(job+1), ""); code != http.StatusOK {
				t.Errorf("hook %d answers %d", job, code)
			}
		})
	}
	group.Wait()
	w.settled(most, wire.InstanceRunning)
	w.await(func() error {
		if got := len(w.github.Runners("")); got != most {
			return fmt.Errorf("%d runners at the forge for %d instances", got, most)
		}
		return nil
	})
	if got := len(w.park.names()); got != most {
		t.Errorf("%d machines for %d runners", got, most)
	}
}
