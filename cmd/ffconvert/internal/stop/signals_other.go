//go:build !unix

package stop

import "syscall"

// stopSignals are those that end a run, by the names that events have.
var Signals = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}
