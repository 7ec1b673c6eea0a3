package stage

import "syscall"

// dieWithParent returns attributes with which the kernel kills the command when its guard ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
