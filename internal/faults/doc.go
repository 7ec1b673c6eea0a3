// Package faults runs the built program against a hostile machine: rows B, C1 to C4, D2
// to D4, F2, G and H of the fault table, and A2 and A7 in little memory. It is tests alone,
// and imports nothing of ours: what it knows is the command line, the FFRecord bytes and
// the exit statuses. docs/reliability.md tells how each fault is made real.
//
//	go test ./internal/faults                         // a few cases a row, seconds
//	FFCONVERT_FAULTS=1 go test -v ./internal/faults   // every case, minutes
//	make faults                                       // that of all packages, and a verdict a row
//
// Each row prints lines of one shape, which the program in table reads:
//
//	ID [PART] cases=N undetected=N lost=N key=value # note
//
// "The k-th system call" is that of the whole process. A supervisor (seccomp's user
// notification) holds each call of interest, sees its path and bytes, and lets it run,
// answers it with an errno, or kills the process in its place. strace -e inject counts
// per thread and per name, and the Go scheduler moves work between threads: the k-th
// call would be another one every time. The supervisor needs no tool and no privilege.
package faults
