// Package metrics tells what the operator knows, as Prometheus metrics. What can be read from caches is computed when it
// is asked for, so that nothing is ever stale and what is gone has no series; the rest is counted as it happens. Labels
// are bounded by what users have written: no metric has one series a runner.
package metrics
