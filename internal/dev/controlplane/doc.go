// Package controlplane runs a real Kubernetes control plane, etcd and kube-apiserver, as child processes on loopback ports.
//
// The demo and every test that needs an API server use it. There is no controller manager: namespaces are never emptied,
// owner references are not garbage collected and service accounts get no tokens.
package controlplane
