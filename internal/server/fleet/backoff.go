package fleet

import (
	"math"
	"time"
)

// Delays between tries of one step of an instance, and between creations of a pool whose runners all fail.
const (
	stepFirst  = 5 * time.Second
	stepFactor = 1.5
	stepMost   = 20 * time.Minute

	poolFirst  = time.Minute
	poolFactor = 2
	poolMost   = 20 * time.Minute

	entityFirst = 5 * time.Second
	entityMost  = 5 * time.Minute
)

// grow returns first for n = 1 and factor times more for each one after, at most most.
func grow(n int, first time.Duration, factor float64, most time.Duration) time.Duration {
	d := float64(first) * math.Pow(factor, float64(max(n, 1)-1))
	if d > float64(most) {
		return most
	}
	return time.Duration(d)
}

// stepDelay is how long to wait after the nth failure in a row of a step of an instance.
func stepDelay(n int) time.Duration { return grow(n, stepFirst, stepFactor, stepMost) }

// poolDelay is how long a pool makes no runner after its newest n have failed.
func poolDelay(n int) time.Duration { return grow(n, poolFirst, poolFactor, poolMost) }

// entityDelay is how long to wait after the nth failure in a row to reach the forge of an entity.
func entityDelay(n int) time.Duration { return grow(n, entityFirst, 2, entityMost) }
