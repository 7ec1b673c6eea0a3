package stage

import "syscall"

// dieWithParent returns nil: macOS has no such attribute, and a command outlives a guard that is killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
