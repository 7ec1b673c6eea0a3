package main

import (
	"errors"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Exit statuses. A run that was ended by a signal has 128 + the number of the signal.
const (
	exitOK         = 0
	exitUsage      = 1 // or an internal error
	exitCorrupt    = 2
	exitRefused    = 3
	exitIO         = 4
	exitUnfinished = 5
	exitDiffers    = 6                          // of diff alone
	exitPipe       = 128 + int(syscall.SIGPIPE) // as of a program that the signal ends
)

// exitStatus is the end of the help of every command.
const exitStatus = `EXIT STATUS

  0    done and sound
  1    usage or internal error
  2    corruption found
  3    input refused: missing, cut short, hostile, over a limit, or changed
  4    I/O error: no space, no permission, a failing device
  5    unfinished: shards of the plan are missing, or there is no plan yet
  6    the datasets differ: diff alone
  130  interrupted (143: SIGTERM, 138: SIGUSR1); the same command goes on`

// exitCode returns the exit status of an error.
func exitCode(err error) int {
	var ended interface{ Status() int } // by a signal, or by a report with findings
	if errors.As(err, &ended) {
		return ended.Status()
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
