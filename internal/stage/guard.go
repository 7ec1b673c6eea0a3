package stage

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A guard is a process of this program that runs a command. It leads the command's process group, and
// kills the group when this process ends, even by SIGKILL. It reads a pipe, the lifeline, which only
// this process holds open, and reports the command's state by another pipe, in records of five bytes:
//
//	's' 0          it runs
//	'e' errno      it could not be started
//	'x' status     it has ended, with that wait status
//
// It does not reach processes that have left the group (setsid, a daemon), nor children of a command
// that has exited.
const (
	guardName  = "ffconvert-guard" // Args[0] of one
	lifelineFD = 3
	reportFD   = 4

	guardStarted = 's'
	guardFailed  = 'e'
	guardEnded   = 'x'
)

// belowGuard makes cmd run its program below a guard, and returns this process's ends of the two pipes,
// which must be closed.
func belowGuard(cmd *exec.Cmd, self string) (lifeline, report *os.File, err error) {
	theirs, lifeline, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	report, theirReport, err := os.Pipe()
	if err != nil {
		theirs.Close()
		lifeline.Close()
		return nil, nil, err
	}
	cmd.Path, cmd.Args, cmd.ExtraFiles = self, append([]string{guardName}, cmd.Args...), []*os.File{theirs, theirReport}
	return lifeline, report, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

func tell(report io.Writer, kind byte, value uint32) {
	report.Write(binary.LittleEndian.AppendUint32([]byte{kind}, value)) // a reader that is gone needs no answer
}

// readRecord reads one record.
func readRecord(report io.Reader) (kind byte, value uint32, err error) {
	var b [5]byte
	if _, err := io.ReadFull(report, b[:]); err != nil {
		return 0, 0, err
	}
	return b[0], binary.LittleEndian.Uint32(b[1:]), nil
}

// started reports whether the guard has started its command.
func started(report io.Reader) error {
	kind, value, err := readRecord(report)
	switch {
	case err != nil:
		return errors.New("its guard has ended")
	case kind == guardFailed:
		return syscall.Errno(value)
	}
	return nil
}
