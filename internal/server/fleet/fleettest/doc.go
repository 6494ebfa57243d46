// Package fleettest has a store in memory and providers for tests of the fleet engine.
package fleettest
