package fleet

import (
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// idleTrust is how much longer than the back-off a job waits for an idle runner that should have taken it. Then a runner
// is made for it all the same, since the forge may see a reason why the idle one does not fit.
const idleTrust = time.Minute

// need is a job that a runner has to be made for, and the pools that can.
type need struct {
	job   model.Job
	pools []model.Pool
}

// jobsPlan is what the queued jobs of an entity ask for.
type jobsPlan struct {
	// covered are jobs that a runner is on its way for.
	covered []model.Job
	needed  []need
	// look is when to plan again although nothing changes; zero for never.
	look time.Time
}

// planJobs decides which queued jobs, the oldest first, need a runner. A job is covered while the instance made for it is
// on its way; when that one fails, goes or runs another job, the job needs a new one. Idle runners that are made for
// nobody serve the oldest jobs that they match.
func planJobs(now time.Time, backoff time.Duration, jobs []model.Job, pools []model.Pool, rows []model.Instance, attempts int) jobsPlan {
	onTheWay := map[int64]bool{}
	idle := map[model.PoolID]int{}
	queued := map[int64]bool{}
	for _, job := range jobs {
		queued[job.WorkflowJobID] = true
	}
	for _, row := range rows {
		r := roleOf(row, attempts)
		mine := row.ForJob != 0 && queued[row.ForJob]
		switch {
		case mine && (r == roleAssigned || r == roleIdle || r == roleHeld):
			onTheWay[row.ForJob] = true
		case r == roleIdle:
			idle[row.PoolID]++
		}
	}
	var plan jobsPlan
	later := func(t time.Time) {
		if plan.look.IsZero() || t.Before(plan.look) {
			plan.look = t
		}
	}
	for _, job := range jobs {
		if onTheWay[job.WorkflowJobID] {
			plan.covered = append(plan.covered, job)
			continue
		}
		fitting := MatchingPools(pools, job.Labels)
		if len(fitting) == 0 {
			continue
		}
		due := job.CreatedAt.Add(backoff)
		spare := takeIdle(idle, fitting)
		switch {
		case now.Before(due):
			later(due)
		case spare && now.Before(due.Add(idleTrust)):
			later(due.Add(idleTrust))
		default:
			plan.needed = append(plan.needed, need{job: job, pools: fitting})
		}
	}
	return plan
}

// takeIdle takes one idle runner out of the first pool that has one.
func takeIdle(idle map[model.PoolID]int, pools []model.Pool) bool {
	for _, p := range pools {
		if idle[p.ID] > 0 {
			idle[p.ID]--
			return true
		}
	}
	return false
}
