//go:build !unix

package provider

import "os/exec"

// ownGroup does nothing where there are no process groups: only the program itself is killed.
func ownGroup(*exec.Cmd) {}
