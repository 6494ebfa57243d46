package fleet_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// takeAll lets every runner that was made for a job run it and end.
func (w *world) takeAll() (ran int) {
	w.t.Helper()
	w.idle()
	jobs, err := w.store.QueuedJobs(w.t.Context(), "entity")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, row := range w.rows() {
		if row.RunnerStatus != model.RunnerIdle || row.Status != model.InstanceRunning || len(jobs) == 0 {
			continue
		}
		job := jobs[0]
		jobs = jobs[1:]
		job.Status = model.JobCompleted
		w.store.Put(job)
		w.forge.Drop(row.Name)
		w.change(row, func(i *model.Instance) {
			i.RunnerStatus, i.Status = model.RunnerTerminated, model.InstancePendingDelete
		})
		ran++
	}
	return ran
}

func TestSV21JobsBeyondTheMaximumAreServedLater(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MaxRunners = 2 })
		w.start()
		for id := range int64(5) {
			w.job(id+1, "linux")
		}
		w.pass(29 * time.Second)
		if got := len(w.provider.Creates()); got != 0 {
			t.Errorf("%d runners before the back-off was over", got)
		}
		ran := 0
		for range 5 {
			w.pass(time.Minute)
			ran += w.takeAll()
		}
		if ran != 5 || w.store.Most("pool") > 2 {
			t.Errorf("%d jobs ran, at most %d runners", ran, w.store.Most("pool"))
		}
		w.pass(10 * time.Minute)
		if got := len(w.rows()); got != 0 {
			t.Errorf("%d rows after all jobs", got)
		}
	})
}

func TestJobIsServedOnceAndLocked(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(nil)
		w.start()
		job := w.job(1, "Linux", "X64")
		w.pass(5 * time.Minute)
		rows := w.rows()
		if len(rows) != 1 || rows[0].ForJob != job.WorkflowJobID || w.store.Job(1).LockedBy != "entity" {
			t.Fatalf("rows %+v, job %+v", rows, w.store.Job(1))
		}
		labels := w.forge.All()[0].Labels
		if !slices.Contains(labels, "in_response_to_job:1001") {
			t.Errorf("labels %v", labels)
		}
		// Its runner takes another job: there has to be a new one.
		w.change(rows[0], func(i *model.Instance) { i.RunnerStatus = model.RunnerActive })
		if got := len(w.rows()); got != 2 {
			t.Errorf("%d rows after the runner took another job, want 2", got)
		}
	})
}

func TestSV22IdleRunnersServeJobsFirst(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(func(p *model.Pool) { p.MinIdleRunners = 1 })
		w.start()
		w.idle()
		w.job(1, "linux")
		w.pass(45 * time.Second)
		if got := len(w.rows()); got != 1 {
			t.Errorf("%d rows while an idle runner can take the job, want 1", got)
		}
		// It does not, for whatever reason.
		w.pass(2 * time.Minute)
		if got := len(w.rows()); got != 2 {
			t.Errorf("%d rows when the idle runner has not taken the job, want 2", got)
		}
	})
}

func TestJobGoesToThePoolWithRoom(t *testing.T) {
	for _, balancer := range []model.Balancer{model.BalancePack, model.BalanceRoundRobin, ""} {
		simulate(t, func(t *testing.T, w *world) {
			e := w.entity()
			e.Balancer = balancer
			w.store.Put(e)
			w.pool(func(p *model.Pool) { p.ID, p.MaxRunners, p.Priority = "low", 3, 1 })
			w.pool(func(p *model.Pool) { p.ID, p.MaxRunners, p.Priority = "high", 3, 2 })
			w.start()
			for id := range int64(4) {
				w.job(id+1, "linux")
			}
			w.pass(time.Minute)
			count := map[model.PoolID]int{}
			for _, row := range w.rows() {
				count[row.PoolID]++
			}
			want := 3
			if balancer != model.BalancePack {
				want = 2
			}
			if count["high"] != want || count["low"] != 4-want {
				t.Errorf("balancer %q: %v", balancer, count)
			}
		})
	}
}

func TestJobWithoutAPoolIsIgnored(t *testing.T) {
	simulate(t, func(t *testing.T, w *world) {
		w.pool(nil)
		w.start()
		w.job(1, "linux", "gpu")
		w.pass(time.Hour)
		if len(w.rows()) != 0 {
			t.Errorf("rows %+v", w.rows())
		}
		w.pool(func(p *model.Pool) { p.Tags = append(p.Tags, model.Tag{Name: "GPU"}) })
		synctest.Wait()
		if len(w.rows()) != 1 {
			t.Errorf("%d rows after the pool was changed to match", len(w.rows()))
		}
	})
}
