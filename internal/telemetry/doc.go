// Package telemetry holds what the programs tell about themselves: logs, metrics, health, version.
package telemetry
