// Package wait waits for conditions, for the demo and for tests: with a deadline, and without hoping.
package wait

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// pauses are the times between looks at a condition: what comes soon is seen soon, and what takes long is not asked for all the
// time, which would slow it down.
func pauses() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.25, Steps: math.MaxInt, Cap: 500 * time.Millisecond}
}

// finalError ends a wait at once.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

func (e *finalError) Unwrap() error { return e.err }

// Final marks an error that waiting does not mend.
func Final(err error) error { return &finalError{err} }

// Until asks check again and again until it returns nil, returns an error marked by Final, or ctx ends; then the error says
// what was missing last.
func Until(ctx context.Context, check func() error) error {
	pause := pauses()
	var last error
	for {
		err := check()
		var stop *finalError
		if err == nil || errors.As(err, &stop) {
			return err
		}
		if ctx.Err() == nil || last == nil { // a call that the deadline cut off says nothing new
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last seen: %w", context.Cause(ctx), last)
		case <-time.After(pause.Step()):
		}
	}
}
