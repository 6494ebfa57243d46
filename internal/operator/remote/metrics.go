package remote

import (
	"time"

	"github.com/garm-operator/garm-operator/garm"
)

// EventResult says what became of an event.
type EventResult string

// Results of an event.
const (
	// EventApplied changed the cache.
	EventApplied EventResult = "applied"
	// EventStale was older than, or the same as, what the cache holds.
	EventStale EventResult = "stale"
	// EventDirty could not be ordered, so its kind is listed again.
	EventDirty EventResult = "dirty"
	// EventDoubt could not be ordered, and leads to a list unless an own write soon shows the same.
	EventDoubt EventResult = "doubt"
	// EventInvalid could not be decoded.
	EventInvalid EventResult = "invalid"
)

// Metrics is told what a session does, and what those find who bring resources in step with its server. Calls must
// return at once.
type Metrics interface {
	StateChanged(server string, state State)
	Listed(server string, kind Kind, objects int, took time.Duration, err error)
	EventReceived(server string, kind Kind, op garm.Operation, result EventResult)
	// Written is told of a finished write; op is such as "CreatePool", waited the time for a free slot.
	Written(server, op string, waited, took time.Duration, err error)
	// Drifted is told of the fields in which an object at the server differs from a resource of a kind that was in step.
	Drifted(kind string, fields []string)
	// Failed is told of a pass over a resource of a kind that failed, with the reason that its user sees.
	Failed(kind, reason string)
}

// NopMetrics ignores everything.
type NopMetrics struct{}

// StateChanged does nothing.
func (NopMetrics) StateChanged(string, State) {}

// Listed does nothing.
func (NopMetrics) Listed(string, Kind, int, time.Duration, error) {}

// EventReceived does nothing.
func (NopMetrics) EventReceived(string, Kind, garm.Operation, EventResult) {}

// Written does nothing.
func (NopMetrics) Written(string, string, time.Duration, time.Duration, error) {}

// Drifted does nothing.
func (NopMetrics) Drifted(string, []string) {}

// Failed does nothing.
func (NopMetrics) Failed(string, string) {}
