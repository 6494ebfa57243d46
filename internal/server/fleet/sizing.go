package fleet

import (
	"slices"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// role is what a row counts as when the size of its pool is decided. Every row takes a slot, whatever its role.
type role int

const (
	// roleGone: on its way out, or done with its job.
	roleGone role = iota
	// roleBusy: runs a job.
	roleBusy
	// roleAssigned: on its way, for a job that waits for it.
	roleAssigned
	// roleComing: on its way, or in another try after a failure.
	roleComing
	// roleIdle: ready for a job.
	roleIdle
	// roleBroken: failed for good. It serves nobody and is kept for a while so that people can see why.
	roleBroken
	// roleHeld: its provider broke the protocol, so that its machine may exist. Until the row has gone it stands for the
	// runner that was wanted, since a new try would only make a second machine.
	roleHeld
)

func roleOf(row model.Instance, attempts int) role {
	switch {
	case instance.Leaving(row.Status) || row.RunnerStatus == model.RunnerTerminated:
		return roleGone
	case row.RunnerStatus == model.RunnerActive:
		return roleBusy
	case row.RunnerStatus == model.RunnerIdle:
		return roleIdle
	case row.RunnerStatus == model.RunnerFailed || row.RunnerStatus == model.RunnerOffline:
		return roleBroken
	case row.Status == model.InstanceError && row.RetryAt.IsZero():
		if row.CreateAttempt < attempts {
			return roleHeld
		}
		return roleBroken
	case row.ForJob != 0:
		return roleAssigned
	}
	return roleComing
}

// rest returns until when a pool makes no runner because its newest runners have all failed. Rows that have come to no
// end yet say nothing; the first that has not failed ends the series.
func rest(rows []model.Instance, attempts int) time.Time {
	newest := slices.Clone(rows)
	slices.SortFunc(newest, func(a, b model.Instance) int { return b.CreatedAt.Compare(a.CreatedAt) })
	failed, last := 0, time.Time{}
	for _, row := range newest {
		switch roleOf(row, attempts) {
		case roleComing, roleAssigned, roleGone:
			continue
		case roleBroken:
			failed++
			if row.UpdatedAt.After(last) {
				last = row.UpdatedAt
			}
			continue
		}
		break
	}
	if failed == 0 {
		return time.Time{}
	}
	return last.Add(poolDelay(failed))
}

// size is what a pool needs.
type size struct {
	// Create is how many rows to add.
	Create int
	// Remove are rows to remove, if the forge agrees.
	Remove []model.Instance
	// Look is when to decide again although nothing changes; zero for never.
	Look time.Time
}

// sizeOf decides on the minimum of idle runners. queued is how many jobs wait that the pool could serve: they keep idle
// runners alive. An idle runner counts as surplus only after it has been so for grace.
func sizeOf(now time.Time, pool model.Pool, rows []model.Instance, queued, attempts int, grace time.Duration) size {
	var s size
	if !pool.Enabled {
		return s
	}
	count := map[role]int{}
	var idle, broken []model.Instance
	for _, row := range rows {
		r := roleOf(row, attempts)
		count[r]++
		switch {
		case r == roleIdle && row.Status == model.InstanceRunning:
			idle = append(idle, row)
		case r == roleBroken:
			broken = append(broken, row)
		}
	}
	oldest := func(a, b model.Instance) int { return a.UpdatedAt.Compare(b.UpdatedAt) }
	want := int(pool.MinIdleRunners) - count[roleIdle] - count[roleComing] - count[roleHeld]
	if want > 0 {
		if until := rest(rows, attempts); now.Before(until) {
			s.Look = until
			return s
		}
		free := max(int(pool.MaxRunners)-len(rows), 0)
		s.Create = min(want, free)
		slices.SortFunc(broken, oldest)
		s.Remove = broken[:min(want-s.Create, len(broken))]
		return s
	}
	surplus := len(idle) - int(pool.MinIdleRunners) - queued
	if surplus <= 0 {
		return s
	}
	slices.SortFunc(idle, oldest)
	for _, row := range idle[:surplus] {
		ripe := row.UpdatedAt.Add(grace)
		if now.Before(ripe) {
			s.Look = ripe
			break
		}
		s.Remove = append(s.Remove, row)
	}
	return s
}
