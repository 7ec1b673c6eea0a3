package stage

import "syscall"

// dieWithParent has the kernel kill a command whose guard is killed.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
