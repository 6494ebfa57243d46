// Package demo shows the whole product on one machine: a real Kubernetes API server, a GARM server, the operator and a
// GitHub simulator, with runners as local processes. It applies the quickstart manifests, waits until runners idle,
// queues jobs, and sees each of them run on a runner of its own that is then replaced.
//
// What it prints is read back from the API server, the GARM server and the simulator; it takes no program's word for
// what another one did. Any step that is not seen to happen in time ends it with an error.
package demo
