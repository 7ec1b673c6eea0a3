//go:build unix

package stop

import "syscall"

// stopSignals are those that end a run, by the names that events have. SIGUSR1 is what
// batch systems send ahead of the end, as Slurm does for --signal=USR1@90.
var Signals = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGUSR1: "SIGUSR1"}
