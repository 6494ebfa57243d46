// Package inventory is the reverse mirror: each remote runner of a managed pool
// is shown as a Runner object in the namespace of its Pool, and deleting that
// object removes the runner, unless it runs a job.
package inventory
