package fleet

import (
	"strings"
	"time"

	"github.com/garm-operator/garm-operator/internal/server/model"
	"github.com/garm-operator/garm-operator/internal/server/model/instance"
)

// proof is how many sweeps in a row have to agree before something that only one side knows is looked at more closely:
// one list of a forge can miss a runner.
const proof = 2

// suspects count, sweep by sweep, for how long the forge and the rows have disagreed.
type suspects struct {
	rows    map[model.InstanceID]int
	runners map[int64]int
}

// finding is what a comparison of runners and rows comes to.
type finding struct {
	// rows are instances whose runner is missing, or offline, for long enough.
	rows []model.Instance
	// runners are ours by label, offline, and without a row for long enough.
	runners []Runner
	// known maps instances to their runner at the forge.
	known map[model.InstanceID]Runner
}

// compare counts disagreements between the runners that the forge lists and the rows. timeouts are the bootstrap
// timeouts of the pools. Runners that do not carry the label of controller are none of our business.
func (s *suspects) compare(now time.Time, controller model.ControllerID, runners []Runner, rows []model.Instance, timeouts map[model.PoolID]time.Duration) finding {
	byID, byName := map[int64]Runner{}, map[string]Runner{}
	for _, r := range runners {
		if isOurs(controller, r) {
			byID[r.ID] = r
			byName[strings.ToLower(r.Name)] = r
		}
	}
	found := finding{known: map[model.InstanceID]Runner{}}
	next := suspects{rows: map[model.InstanceID]int{}, runners: map[int64]int{}}
	owned := map[int64]bool{}
	for _, row := range rows {
		runner, present := byID[row.AgentID]
		if !present {
			runner, present = byName[strings.ToLower(row.Name)]
		}
		if present {
			owned[runner.ID] = true
			found.known[row.ID] = runner
		}
		if !suspicious(now, row, runner, present, timeouts[row.PoolID]) {
			continue
		}
		next.rows[row.ID] = s.rows[row.ID] + 1
		if next.rows[row.ID] >= proof {
			found.rows = append(found.rows, row)
		}
	}
	for id, runner := range byID {
		if owned[id] || runner.Online || runner.Busy {
			continue
		}
		next.runners[id] = s.runners[id] + 1
		if next.runners[id] >= proof {
			found.runners = append(found.runners, runner)
		}
	}
	*s = next
	return found
}

// suspicious says whether a row looks as if its runner were lost. One that is still being set up has until its bootstrap
// timeout, counted from its creation.
func suspicious(now time.Time, row model.Instance, runner Runner, present bool, timeout time.Duration) bool {
	if instance.Leaving(row.Status) || row.Status == model.InstancePendingCreate || row.Status == model.InstanceCreating {
		return false
	}
	if present && (runner.Online || runner.Busy) {
		return false
	}
	if timeout <= 0 {
		timeout = model.DefaultBootstrapTimeout
	}
	expired := !now.Before(row.CreatedAt.Add(timeout))
	switch row.RunnerStatus {
	case model.RunnerIdle, model.RunnerActive, model.RunnerOffline:
		return !present || expired
	}
	return expired
}
