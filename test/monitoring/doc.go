// Package monitoring proves what users of Prometheus are given: the configuration of kube-state-metrics, the alert rules
// and the dashboard, each with the parser of the program that it is for. It is a module of its own, so that those programs
// are no part of what users of the operator's module get.
package monitoring
