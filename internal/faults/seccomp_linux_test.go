package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launchEnv holds the numbers of the system calls to supervise. A test binary that is
// started with it becomes the program in its arguments.
const launchEnv = "FFCONVERT_FAULTS_LAUNCH"

// launchSocket is where the launcher sends the descriptor of its calls.
const launchSocket = 3

// launch asks the kernel to hold the system calls named in the environment, hands the
// descriptor they can be answered through to the test, and becomes the program.
func launch() error {
	runtime.LockOSThread() // the filter is that of the thread, until it becomes the program
	var numbers []int
	for text := range strings.SplitSeq(os.Getenv(launchEnv), ",") {
		nr, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		numbers = append(numbers, nr)
	}
	os.Unsetenv(launchEnv)
	unix.CloseOnExec(launchSocket)
	listener, err := filter(numbers)
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	if err := unix.Sendmsg(launchSocket, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// filter installs a seccomp filter: calls with these numbers wait for an answer, all
// others run. A call that waits is not interrupted by signals, other than to die.
func filter(numbers []int) (listener int, err error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number
	for i, nr := range numbers {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(len(numbers) - i), K: uint32(nr)})
	}
	program = append(program,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// A call is a system call that waits. Its layout is struct seccomp_notif of Linux.
type call struct {
	id    uint64
	tid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// A verdict is what becomes of a call. Zero: it runs.
type verdict struct {
	errno  syscall.Errno  // it fails, without having run
	kill   bool           // the process dies in its place
	signal syscall.Signal // the process gets a signal, and the call runs
}

// supervise runs the program on one CPU and asks decide what becomes of each of the
// named system calls, one at a time, in the order in which they come.
func supervise(calls []string, decide func(c *call) verdict, args ...string) (result, error) {
	return superviseWith(func(*exec.Cmd) {}, calls, decide, args...)
}

// superviseWith is supervise of a command that prepare gives its standard input or variables.
func superviseWith(prepare func(*exec.Cmd), calls []string, decide func(c *call) verdict, args ...string) (result, error) {
	var numbers []string
	for _, name := range calls {
		numbers = append(numbers, strconv.Itoa(numberOf(name)))
	}
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	cmd, cancel := command(self, append([]string{program()}, args...)...)
	defer cancel()
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", launchEnv+"="+strings.Join(numbers, ","))
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return result{}, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	defer theirs.Close()
	cmd.ExtraFiles = []*os.File{theirs}
	prepare(cmd)
	ended := make(chan error, 1)
	r, err := finish(cmd, cmd.Start, func(time.Time) {
		theirs.Close()
		listener, err := receive(pair[0])
		if err != nil {
			ended <- err
			return
		}
		go func() {
			defer unix.Close(listener)
			ended <- serve(listener, cmd, decide)
		}()
	})
	return r, errors.Join(err, <-ended)
}

// receive takes the descriptor that the launcher sends.
func receive(socket int) (int, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(errors.New("the launcher sent nothing"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// serve answers calls until the process is gone.
func serve(listener int, cmd *exec.Cmd, decide func(*call) verdict) error {
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return err
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return nil
		}
		var c call
		if errno := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&c)); errno != 0 {
			if errno == unix.ENOENT || errno == unix.EINTR {
				continue // it was interrupted before we saw it, and comes again
			}
			return errno
		}
		v := decide(&c)
		if v.kill {
			cmd.Process.Kill()
		}
		if v.signal != 0 {
			cmd.Process.Signal(v.signal)
		}
		a := answer{id: c.id, errno: -int32(v.errno)}
		if v.errno == 0 && !v.kill {
			a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		} else if v.kill {
			a.errno = -int32(unix.EIO) // should it still look
		}
		if errno := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)); errno != 0 && errno != unix.ENOENT {
			return errno
		}
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return errno
}
