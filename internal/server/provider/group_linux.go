package provider

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group, which is killed as a whole, and lets the kernel kill it when
// the server dies: a create that goes on unseen could make a second machine.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
