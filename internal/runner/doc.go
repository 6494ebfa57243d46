// Package runner is what runs on a machine before the GitHub runner does, whichever provider made the machine: it tells
// the server that the installation has begun, fetches the runner's credentials from the metadata service, starts the
// runner, tells the server where it runs and that it waits for jobs, and stays the runner's parent until it ends.
//
// Whatever fails on the way is reported as the runner's failure. No token is logged, passed on a command line or put
// into an error text.
package runner
