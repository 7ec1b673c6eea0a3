//go:build !unix

package stop

import "syscall"

// Signals are the signals that end a run, with their names in events.
var Signals = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}
