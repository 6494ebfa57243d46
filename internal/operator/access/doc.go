// Package access is the one source of what the operator may do at the Kubernetes API server: the shipped roles are
// rendered from it (config/rbac, and through it the chart), and the program asks at start for what it cannot work without.
package access
