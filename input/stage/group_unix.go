//go:build linux || darwin

package stage

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes a command the leader of a process group, so that its children can be stopped with
// it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals p's group, or p alone if it has left the group.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if syscall.Kill(-p.Pid, sig) != nil {
		p.Signal(sig)
	}
}
