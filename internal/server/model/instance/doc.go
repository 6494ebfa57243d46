// Package instance is the state machine of a runner instance: which changes of its two states are legal, and who may
// cause them. It decides and does nothing: the store's compare-and-set asks it before a row is written.
//
// An instance has two states. The machine state (model.InstanceStatus) belongs to the fleet engine: a provider's word is
// an input to it, never the new state as it is. The runner state (model.RunnerStatus) is what the runner itself and the
// forge report.
package instance
