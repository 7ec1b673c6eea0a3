//go:build unix

package terminal

import "syscall"

// signals are the signals that end a run, with their names in events. Batch systems send SIGUSR1 some
// time before they kill a job, as Slurm does for --signal=USR1@90.
var signals = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGUSR1: "SIGUSR1"}
