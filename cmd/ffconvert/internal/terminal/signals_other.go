//go:build !unix

package terminal

import "syscall"

// signals are the signals that end a run, with their names in events.
var signals = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}
