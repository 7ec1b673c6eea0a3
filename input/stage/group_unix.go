//go:build linux || darwin

package stage

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes a command the first of a process group, so that what it starts can be
// stopped with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals what is left of p's group, or p alone where it has changed groups.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if syscall.Kill(-p.Pid, sig) != nil {
		p.Signal(sig)
	}
}
