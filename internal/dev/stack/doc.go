// Package stack brings up what a test of the whole needs, in one process: the GitHub simulator, the real GARM server
// with its database in a folder, a proxy in front of it that counts and fails, and the real operator against the API
// server of package controlplane. Each Stack works in a Kubernetes namespace of its own, so that the tests of a package
// can share one control plane.
package stack
