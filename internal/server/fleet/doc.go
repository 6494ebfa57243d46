// Package fleet is the engine of the GARM server: level-based reconcilers over the store that keep entities, pools and
// instances in the state that users asked for. Decisions are pure functions; the forge, the machines, the database and
// the clock are reached through the interfaces in ports.go. The package knows no SQL, no HTTP and no process.
package fleet
