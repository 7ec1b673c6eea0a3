// Package faults runs the built program against a hostile machine: rows B1 to B4, C1
// to C4, D2 to D4 and F2 of the fault table. It is tests alone, and imports nothing of
// ours: what it knows is the command line, the FFRecord bytes and the exit statuses.
//
//	go test ./internal/faults                                     // a few cases a row, seconds
//	FFCONVERT_FAULTS=1 go test -timeout 60m -v ./internal/faults   // every case, a line a row
//
// "The k-th system call" is that of the whole process. A supervisor (seccomp's user
// notification) holds each call of interest, sees its path and bytes, and lets it run,
// answers it with an errno, or kills the process in its place. strace -e inject counts
// per thread and per name, and the Go scheduler moves work between threads: the k-th
// call would be another one every time. The supervisor needs no tool and no privilege.
package faults
