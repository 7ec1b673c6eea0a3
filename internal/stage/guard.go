package stage

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A guard is a process that runs this program to guard a command. It starts the command, leads its process group, and
// kills the group when the main process ends, even by SIGKILL. It notices that by a pipe, the lifeline, whose write end
// only the main process holds, and reports the state of the command by another pipe, in records of five bytes:
//
//	's' 0          the command has started
//	'e' errno      it could not be started
//	'x' status     it has ended with that wait status
//
// It does not kill processes that have left the group (setsid, a daemon), nor children of a command
// that has exited.
const (
	guardName  = "ffconvert-guard" // Args[0] of a guard
	lifelineFD = 3
	reportFD   = 4

	guardStarted = 's'
	guardFailed  = 'e'
	guardEnded   = 'x'
)

// belowGuard changes cmd to run its program under a guard. It returns the main process's ends of the two pipes,
// which the caller must close.
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

func writeRecord(report io.Writer, kind byte, value uint32) {
	report.Write(binary.LittleEndian.AppendUint32([]byte{kind}, value)) // fails only if the main process has ended
}

func readRecord(report io.Reader) (kind byte, value uint32, err error) {
	var b [5]byte
	if _, err := io.ReadFull(report, b[:]); err != nil {
		return 0, 0, err
	}
	return b[0], binary.LittleEndian.Uint32(b[1:]), nil
}

// started waits until the guard has started its command. It returns the error of the start.
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
