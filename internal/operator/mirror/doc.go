// Package mirror is the engine of the operator: it keeps one remote object in step with one Kubernetes resource. It does
// what every kind needs, always in the same order; a kind supplies values, in an Actuator.
//
//	get → paused? → session → deleting, or finalizer → references → observe → decide {adopt, create, update, nothing}
//	→ act → project into status → readiness → summary → one patch → outcome
//
// A pass may be killed between any two lines: the next one reads both sides again.
package mirror
