package fleet

import (
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

func TestSV40NamesAreDNSLabels(t *testing.T) {
	label := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	suffix := regexp.MustCompile(`-[a-z0-9]{12}$`)
	rapid.Check(t, func(t *rapid.T) {
		name := runnerName(rapid.String().Draw(t, "prefix"))
		if !label.MatchString(name) || !suffix.MatchString(name) {
			t.Fatalf("name %q", name)
		}
	})
	if got := runnerName("Team-A"); got[:7] != "team-a-" {
		t.Errorf("name %q", got)
	}
}

func TestSV32Matching(t *testing.T) {
	tests := []struct {
		name         string
		tags, labels []string
		want         bool
	}{
		{"equal", []string{"ubuntu"}, []string{"ubuntu"}, true},
		{"letter case", []string{"ubuntu"}, []string{"Ubuntu"}, true},
		{"letter case of the tag", []string{"UBUNTU"}, []string{"ubuntu"}, true},
		{"subset", []string{"ubuntu", "x64", "gpu"}, []string{"x64", "ubuntu"}, true},
		{"superset", []string{"ubuntu"}, []string{"ubuntu", "gpu"}, false},
		{"asked twice", []string{"ubuntu"}, []string{"ubuntu", "ubuntu"}, true},
		{"nothing asked", []string{"ubuntu"}, nil, false},
		{"no tags", nil, []string{"ubuntu"}, false},
		{"part of a word", []string{"ubuntu-22"}, []string{"ubuntu"}, false},
	}
	for _, test := range tests {
		if got := matches(test.tags, test.labels); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

var drawRow = rapid.Custom(func(t *rapid.T) model.Instance {
	return model.Instance{
		ID: model.InstanceID(rapid.StringMatching(`[a-z]{8}`).Draw(t, "id")),
		Status: rapid.SampledFrom([]model.InstanceStatus{
			model.InstancePendingCreate, model.InstanceCreating, model.InstanceRunning, model.InstanceError, model.InstancePendingDelete, model.InstanceDeleting,
		}).Draw(t, "status"),
		RunnerStatus: rapid.SampledFrom([]model.RunnerStatus{
			model.RunnerPending, model.RunnerInstalling, model.RunnerIdle, model.RunnerActive, model.RunnerFailed, model.RunnerTerminated,
		}).Draw(t, "runner"),
		CreateAttempt: rapid.IntRange(1, 5).Draw(t, "attempt"),
		ForJob:        rapid.Int64Range(0, 2).Draw(t, "job"),
		CreatedAt:     time.Unix(rapid.Int64Range(0, 5000).Draw(t, "created"), 0),
		UpdatedAt:     time.Unix(rapid.Int64Range(0, 5000).Draw(t, "updated"), 0),
	}
})

// Whatever the rows are: no more than the maximum, no runner removed that works or is needed, nothing for a disabled pool.
func TestSizeKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfNDistinct(drawRow, 0, 12, func(i model.Instance) model.InstanceID { return i.ID }).Draw(t, "rows")
		pool := model.Pool{
			MaxRunners: uint(rapid.IntRange(1, 12).Draw(t, "max")), MinIdleRunners: uint(rapid.IntRange(0, 12).Draw(t, "min")),
			Enabled: rapid.Bool().Draw(t, "enabled"),
		}
		now := time.Unix(rapid.Int64Range(0, 10000).Draw(t, "now"), 0)
		queued := rapid.IntRange(0, 3).Draw(t, "queued")
		s := sizeOf(now, pool, rows, queued, 5, 2*time.Minute)
		if !pool.Enabled && (s.Create != 0 || len(s.Remove) != 0) {
			t.Fatalf("a disabled pool: %+v", s)
		}
		if s.Create < 0 || s.Create > 0 && len(rows)+s.Create > int(pool.MaxRunners) {
			t.Fatalf("%d rows and %d new ones of at most %d", len(rows), s.Create, pool.MaxRunners)
		}
		idle, removedIdle := 0, 0
		for _, row := range rows {
			if roleOf(row, 5) == roleIdle {
				idle++
			}
		}
		for _, row := range s.Remove {
			switch roleOf(row, 5) {
			case roleIdle:
				removedIdle++
				if now.Sub(row.UpdatedAt) < 2*time.Minute {
					t.Fatalf("removed within the grace: %+v", row)
				}
			case roleBroken:
			default:
				t.Fatalf("removed %+v", row)
			}
		}
		if removedIdle > 0 && idle-removedIdle < int(pool.MinIdleRunners) {
			t.Fatalf("%d of %d idle ones removed, the minimum is %d", removedIdle, idle, pool.MinIdleRunners)
		}
		if !s.Look.IsZero() && !s.Look.After(now) {
			t.Fatalf("the next look %s is not after %s", s.Look, now)
		}
	})
}

// A broken runner is not an idle one: the pool makes another, after a rest, and makes room for it.
func TestBrokenRunnersAreReplaced(t *testing.T) {
	now := time.Unix(10000, 0)
	broken := model.Instance{ID: "b", Status: model.InstanceRunning, RunnerStatus: model.RunnerFailed, CreateAttempt: 1, CreatedAt: now, UpdatedAt: now}
	pool := model.Pool{MaxRunners: 2, MinIdleRunners: 1, Enabled: true}
	if s := sizeOf(now, pool, []model.Instance{broken}, 0, 5, time.Minute); s.Create != 0 || !s.Look.Equal(now.Add(time.Minute)) {
		t.Errorf("at once: %+v", s)
	}
	later := now.Add(time.Minute)
	if s := sizeOf(later, pool, []model.Instance{broken}, 0, 5, time.Minute); s.Create != 1 || len(s.Remove) != 0 {
		t.Errorf("after the rest: %+v", s)
	}
	pool.MaxRunners = 1
	if s := sizeOf(later, pool, []model.Instance{broken}, 0, 5, time.Minute); s.Create != 0 || len(s.Remove) != 1 {
		t.Errorf("in a full pool: %+v", s)
	}
}

func TestBackoffGrowsUpToItsMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 10000).Draw(t, "n")
		for name, delay := range map[string]func(int) time.Duration{"step": stepDelay, "pool": poolDelay, "entity": entityDelay} {
			if d := delay(n); d <= 0 || d > 20*time.Minute || d > delay(n+1) {
				t.Fatalf("%s: %s after %d failures, %s after the next", name, d, n, delay(n+1))
			}
		}
	})
	if stepDelay(1) != 5*time.Second || stepDelay(2) != 7500*time.Millisecond {
		t.Errorf("delays %s, %s", stepDelay(1), stepDelay(2))
	}
}
