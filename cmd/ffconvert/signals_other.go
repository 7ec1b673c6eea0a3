//go:build !unix

package main

import "syscall"

// stopSignals are those that end a run, by the names that events have.
var stopSignals = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}
