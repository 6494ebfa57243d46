// Package metrics shows the fleet to Prometheus, by the names that dashboards for GARM know.
package metrics
