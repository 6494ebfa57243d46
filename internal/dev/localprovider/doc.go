// Package localprovider is an external provider of GARM whose machines are processes on the same host: for development,
// the demo and tests. It speaks the real protocol (package garm/provider) and starts the real bootstrap program
// (garm-runner), which starts what stands for the GitHub runner.
//
// Each machine is a folder below the state folder. It holds what the machine is (instance.json), what GARM said about it
// (bootstrap.json), its token, the process id, what it printed (runner.log) and the runner's own folder (home). The
// process outlives the provider. It holds a lock on a file of the folder for as long as it or a child of it lives, so
// that a process id that was used again is never mistaken for it.
//
// A pool can ask for trouble, by its flavor or by {"fault": ...} in its extra specs; see Fault.
package localprovider
