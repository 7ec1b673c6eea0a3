package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Exit statuses. An interrupted run ends with 128 + the number of the signal.
const (
	exitOK         = 0
	exitUsage      = 1 // and internal errors
	exitCorrupt    = 2
	exitRefused    = 3
	exitIO         = 4
	exitUnfinished = 5
)

// exitStatus ends the help of every command.
const exitStatus = `EXIT STATUS

  0    done and sound
  1    usage or internal error
  2    corruption found
  3    input refused: missing, cut short, hostile, over a limit, or changed
  4    I/O error: no space, no permission, a failing device
  5    unfinished: shards of the plan are missing, or there is no plan yet
  130  interrupted (143: SIGTERM, 138: SIGUSR1); the same command goes on`

// interrupted is the error of a run that a signal has ended.
type interrupted struct {
	signal   syscall.Signal
	finished string // how far a conversion was; "": nothing was being written
	late     bool   // it did not end, and was not waited for
}

func (i interrupted) Error() string {
	if i.late {
		return fmt.Sprintf("%v: stopped without an end of what was under way; run the same command again", i.signal)
	}
	if i.finished == "" {
		return fmt.Sprintf("%v: stopped; run the same command again", i.signal)
	}
	return fmt.Sprintf("%v: stopped%s; the same command goes on from there", i.signal, i.finished)
}

// exitCode maps an error to its exit status.
func exitCode(err error) int {
	var stop interrupted
	var found *refusal
	switch {
	case errors.As(err, &stop):
		return 128 + int(stop.signal)
	case errors.As(err, &found):
		return found.status
	}
	switch place.KindOf(err) {
	case place.Corrupt:
		return exitCorrupt
	case place.Refused:
		return exitRefused
	case place.IO:
		return exitIO
	case place.Unfinished:
		return exitUnfinished
	}
	return exitUsage
}
