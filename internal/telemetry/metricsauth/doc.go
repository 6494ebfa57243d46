// Package metricsauth lets only those read metrics whom the Kubernetes API server knows and allows to. It does what
// controller-runtime's filter does, without the 260 packages of the API server's libraries that come with that one, and keeps
// strangers from being a burden for the API server or for those who may read.
package metricsauth
