// Package faults tests the built program on a machine with injected faults: rows B, C1 to C4, D2 to
// D4, E6, F2, G, H and I of the fault table, and A2 and A7 with little memory. It has only tests and does
// not import other packages of this module: it uses the command line, the bytes of FFRecord files and
// the exit statuses. docs/reliability.md describes how each fault is injected.
//
//	go test ./internal/faults                         // a few cases of each row, seconds
//	FFCONVERT_FAULTS=1 go test -v ./internal/faults   // every case, minutes
//	make faults                                       // every case of all packages, and the table
//
// Each test of a row prints lines of this form, which the program in table reads:
//
//	ID [PART] cases=N undetected=N lost=N key=value # note
//
// The k-th system call is counted over the whole process. A supervisor (seccomp user notification)
// stops each relevant call, inspects its path and bytes, and then lets it run, answers it with an
// errno, or kills the process. strace -e inject is not suitable: it counts per thread and per name,
// and the Go scheduler moves work between threads, so the k-th call differs between runs. The
// supervisor needs no other program and no privilege.
package faults
