//go:build unix

package main

import "syscall"

// ownSession makes a process not get the signals of this terminal.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
