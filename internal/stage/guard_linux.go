package stage

import "syscall"

// dieWithParent makes the kernel kill the command when its guard is killed.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
