// Package controlplane runs a real Kubernetes control plane, etcd and kube-apiserver, as child processes on loopback ports.
//
// The demo and every test that needs an API server use it. Unless Options.ControllerManager is on there is no controller manager:
// namespaces are never emptied, owner references are not garbage collected and there are no service accounts.
package controlplane
