package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/remote"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
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
	var errno syscall.Errno
	var read *aio.ReadError
	var source *converters.Error
	var in *input.Error
	var pack *packed.Error
	var found *refusal
	is := func(kinds ...error) bool {
		for _, k := range kinds {
			if errors.Is(err, k) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.As(err, &stop):
		return 128 + int(stop.signal)
	case errors.As(err, &found):
		return found.status
	case is(plan.ErrVersion, dataset.ErrManifestVersion):
		return exitRefused
	case is(dataset.ErrMoved):
		return exitIO
	case is(verify.ErrCorrupt, record.ErrCorrupt, dataset.ErrManifest, plan.ErrDamaged, shard.ErrIndex, dataset.ErrNothingKept):
		return exitCorrupt
	case is(dataset.ErrMissing, errUnplanned):
		return exitUnfinished
	case is(input.ErrPattern, input.ErrRepeated, input.ErrScheme, input.ErrList, remote.ErrSetting):
		return exitUsage
	case is(remote.ErrDenied, remote.ErrTLS, remote.ErrRedirect):
		return exitRefused
	case is(input.ErrCopy):
		return exitIO
	case is(input.ErrNotFound, errNoShards), errors.As(err, &source) && is(fs.ErrNotExist):
		return exitRefused
	case errors.As(err, &errno), errors.As(err, &read), is(remote.ErrUnavailable):
		return exitIO
	case errors.As(err, &pack) && is(fs.ErrExist, packed.ErrNotEmpty):
		return exitUsage
	case errors.As(err, &pack), is(fs.ErrNotExist): // of a packed folder
		return exitRefused
	case errors.As(err, &source), errors.As(err, &in), is(plan.ErrEmpty, converters.ErrChanged, converters.ErrLimit, converters.ErrUnsupported, record.ErrTooLarge):
		return exitRefused
	}
	return exitUsage
}
