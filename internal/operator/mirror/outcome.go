package mirror

import (
	"errors"
	"time"
)

// Class orders outcomes by how bad they are.
type Class int

// Classes of outcome, the best first.
const (
	// Settled: both sides agree.
	Settled Class = iota
	// Degraded: both sides agree, but the remote object does not work.
	Degraded
	// Waiting: something else has to happen first; it wakes the resource, or After does.
	Waiting
	// Transient: it failed in a way that may pass; it is tried again with growing delays.
	Transient
	// Terminal: it fails again until a user changes something.
	Terminal
)

// Outcome is how a pass ended. As an error it ends a step.
type Outcome struct {
	Class Class
	// Reason and Message are those of Ready.
	Reason  string
	Message string
	// After is when to look again at the latest; 0 leaves it to what wakes the resource.
	After time.Duration
	// Silent means that nothing is known that is worth a status.
	Silent bool
	// Err is the cause.
	Err error
}

func (o *Outcome) Error() string {
	if o.Message != "" {
		return o.Reason + ": " + o.Message
	}
	return o.Reason
}

func (o *Outcome) Unwrap() error { return o.Err }

// failed says whether something is wrong that is worth telling. Waiting for something that is expected to come is not.
func (o Outcome) failed() bool {
	return !o.Silent && (o.Class == Transient || o.Class == Terminal || o.Class == Degraded)
}

// Wait ends a step that something else has to precede. After bounds the wait; 0 means until woken.
func Wait(reason, message string, after time.Duration) error {
	return &Outcome{Class: Waiting, Reason: reason, Message: message, After: after}
}

// Stop ends a step that will fail again until a user changes something.
func Stop(reason, message string) error {
	return &Outcome{Class: Terminal, Reason: reason, Message: message}
}

// Degrade says that the remote object is as wanted but does not work.
func Degrade(reason, message string, after time.Duration) error {
	return &Outcome{Class: Degraded, Reason: reason, Message: message, After: after}
}

// Again ends a step whose ground has moved: the pass is repeated soon, and says nothing.
func Again(after time.Duration) error {
	return &Outcome{Class: Waiting, After: after, Silent: true}
}

// Later asks for another look although all is settled.
func Later(after time.Duration) error { return &Outcome{Class: Settled, After: after} }

// Join returns the worse of two outcomes, with the sooner of their times.
func Join(a, b Outcome) Outcome {
	worse, other := a, b
	if b.Class > a.Class {
		worse, other = b, a
	}
	if other.After > 0 && (worse.After == 0 || other.After < worse.After) {
		worse.After = other.After
	}
	return worse
}

// asOutcome returns the outcome that err carries.
func asOutcome(err error) (Outcome, bool) {
	var o *Outcome
	if errors.As(err, &o) {
		return *o, true
	}
	return Outcome{}, false
}
