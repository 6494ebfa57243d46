package server_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	wire "github.com/garm-operator/garm-operator/garm"
)

// hook sends what GitHub would of a job of the organization acme, and returns the status of the answer.
func (w *world) hook(action string, job int64, runner string) int {
	body, err := json.Marshal(map[string]any{
		"action": action,
		"workflow_job": map[string]any{
			"id": job, "run_id": 1000 + job, "name": "build", "labels": []string{"linux", "x64"}, "runner_name": runner,
			"html_url": fmt.Sprintf("%s/acme/app/actions/runs/%d/job/%d", w.github.URL(), 1000+job, job),
		},
		"repository":   map[string]any{"name": "app", "owner": map[string]any{"login": "acme"}},
		"organization": map[string]any{"login": "acme"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	code, _ := w.send(http.MethodPost, "/webhooks", "", body, http.Header{
		"X-Github-Event": {"workflow_job"}, "X-Github-Hook-Installation-Target-Type": {"organization"},
		"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
	})
	return code
}

// run plays a runner that takes a job and finishes it.
func (w *world) run(i wire.Instance, job int64) {
	w.t.Helper()
	w.report(i, "idle")
	for _, action := range []string{"in_progress", "completed"} {
		if code := w.hook(action, job, i.Name); code != http.StatusOK {
			w.t.Fatalf("the hook %s answers %d", action, code)
		}
	}
}

// Jobs beyond the maximum wait and are served when a runner has gone.
func TestSV21JobsBeyondTheMaximum(t *testing.T) {
	t.Parallel()
	const jobs, most = 5, 2
	w := newWorld(t, options{})
	w.await(w.healthy("acme", true))
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 0, most })
	for job := range jobs {
		if code := w.hook("queued", int64(job+1), ""); code != http.StatusOK {
			t.Fatalf("hook %d answers %d", job, code)
		}
	}
	served := map[string]bool{}
	for job := range jobs {
		var next wire.Instance
		w.await(func() error {
			list := w.instances()
			if len(list) > most {
				t.Fatalf("%d instances, more than %d", len(list), most)
			}
			for _, i := range list {
				if i.Status == wire.InstanceRunning && !served[i.Name] {
					next = i
					return nil
				}
			}
			return fmt.Errorf("no runner for job %d of %d", job+1, jobs)
		})
		served[next.Name] = true
		w.run(next, int64(job+1))
	}
	w.settled(0, "")
	list, err := w.client.ListJobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range list {
		if j.Status != "completed" {
			t.Errorf("job %d is %s", j.WorkflowJobID, j.Status)
		}
	}
	if len(list) != jobs {
		t.Errorf("%d jobs are known, want %d", len(list), jobs)
	}
}

// In whatever order the hooks of a job come, it ends completed, and nothing is made for it afterwards.
func TestSV30HooksInAllOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.await(w.healthy("acme", true))
	pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 1, 1 })
	job := int64(0)
	for _, order := range [][]string{
		{"queued", "in_progress", "completed"},
		{"queued", "completed", "in_progress"},
		{"in_progress", "queued", "completed"},
		{"in_progress", "completed", "queued"},
		{"completed", "queued", "in_progress"},
		{"completed", "in_progress", "queued"},
	} {
		t.Run("SV-30 "+strings.Join(order, ","), func(t *testing.T) {
			job++
			i := w.settled(1, wire.InstanceRunning)[0]
			w.report(i, "idle")
			for _, action := range order {
				runner := i.Name
				if action == "queued" {
					runner = ""
				}
				if code := w.hook(action, job, runner); code != http.StatusOK {
					t.Errorf("%s answers %d", action, code)
				}
			}
			w.await(func() error {
				for _, other := range w.instances() {
					if other.ID == i.ID {
						return fmt.Errorf("%s is still there, %s, %s", i.Name, i.Status, i.RunnerStatus)
					}
				}
				return nil
			})
			list, err := w.client.ListJobs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range list {
				if j.Status != "completed" {
					t.Errorf("job %d is %s", j.WorkflowJobID, j.Status)
				}
			}
		})
	}
	w.updatePool(pool.ID, wire.UpdatePoolParams{MinIdleRunners: new(uint)})
}

// A queue that the pool cannot serve is no error and is not told again and again.
func TestSV4FullPoolIsNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.await(w.healthy("acme", true))
	w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = 0, 1 })
	for job := range 20 {
		if code := w.hook("queued", int64(job+1), ""); code != http.StatusOK {
			t.Fatalf("hook %d answers %d", job, code)
		}
	}
	w.settled(1, wire.InstanceRunning)
	for _, level := range []string{"level=ERROR", "level=WARN"} {
		if n := strings.Count(w.log.String(), level); n != 0 {
			t.Errorf("%d lines of %s:\n%s", n, level, w.log.tail(4<<10))
		}
	}
}

// A burst of removals leaves no row behind, and the pool gets its idle runners back.
func TestSV56BurstOfDeletions(t *testing.T) {
	t.Parallel()
	const runners = 200
	w := newWorld(t, options{script: true})
	w.await(w.healthy("acme", true))
	pool := w.pool(func(p *wire.CreatePoolParams) { p.MinIdleRunners, p.MaxRunners = runners, runners })
	made := w.settled(runners, wire.InstanceRunning)
	five := uint(5)
	w.updatePool(pool.ID, wire.UpdatePoolParams{MinIdleRunners: &five})
	for _, i := range made {
		if err := w.client.DeleteInstance(t.Context(), i.Name, false); err != nil {
			t.Fatal(err)
		}
	}
	w.await(func() error {
		old := map[string]bool{}
		for _, i := range made {
			old[i.ID] = true
		}
		for _, i := range w.instances() {
			if old[i.ID] {
				return fmt.Errorf("%s is left, %s", i.Name, i.Status)
			}
		}
		return nil
	})
	w.settled(int(five), wire.InstanceRunning)
	w.await(func() error {
		if got := len(w.park.names()); got != int(five) {
			return fmt.Errorf("%d machines for %d runners", got, five)
		}
		return nil
	})
}
