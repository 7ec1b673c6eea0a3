package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A kind is a system call that can be supervised, and where its arguments are.
type kind struct {
	name string
	nr   int
	at   [2]int // indexes of a directory's descriptor and of the name in it; {0, 0}: a descriptor; {-1, -1}: no file
}

var kinds = []kind{
	{"openat", unix.SYS_OPENAT, [2]int{0, 1}},
	{"mkdirat", unix.SYS_MKDIRAT, [2]int{0, 1}},
	{"unlinkat", unix.SYS_UNLINKAT, [2]int{0, 1}},
	{"renameat", unix.SYS_RENAMEAT, [2]int{0, 1}},
	{"renameat2", unix.SYS_RENAMEAT2, [2]int{0, 1}},
	{"linkat", unix.SYS_LINKAT, [2]int{0, 1}},
	{"statx", unix.SYS_STATX, [2]int{0, 1}},
	{"newfstatat", unix.SYS_NEWFSTATAT, [2]int{0, 1}},
	{"fstat", unix.SYS_FSTAT, [2]int{}},
	{"lseek", unix.SYS_LSEEK, [2]int{}},
	{"fadvise64", unix.SYS_FADVISE64, [2]int{}},
	{"cachestat", unix.SYS_CACHESTAT, [2]int{}},
	{"write", unix.SYS_WRITE, [2]int{}},
	{"pwrite64", unix.SYS_PWRITE64, [2]int{}},
	{"pread64", unix.SYS_PREAD64, [2]int{}},
	{"read", unix.SYS_READ, [2]int{}},
	{"fallocate", unix.SYS_FALLOCATE, [2]int{}},
	{"ftruncate", unix.SYS_FTRUNCATE, [2]int{}},
	{"fsync", unix.SYS_FSYNC, [2]int{}},
	{"fdatasync", unix.SYS_FDATASYNC, [2]int{}},
	{"syncfs", unix.SYS_SYNCFS, [2]int{}},
	{"fcntl", unix.SYS_FCNTL, [2]int{}},
	{"flock", unix.SYS_FLOCK, [2]int{}},
	{"getdents64", unix.SYS_GETDENTS64, [2]int{}},
	{"close", unix.SYS_CLOSE, [2]int{}},
	{"io_setup", unix.SYS_IO_SETUP, [2]int{-1, -1}},
	{"io_submit", unix.SYS_IO_SUBMIT, [2]int{-1, -1}},
	{"io_getevents", unix.SYS_IO_GETEVENTS, [2]int{-1, -1}},
	{"io_destroy", unix.SYS_IO_DESTROY, [2]int{-1, -1}},
}

func numberOf(name string) int {
	for _, k := range kinds {
		if k.name == name {
			return k.nr
		}
	}
	panic("no system call " + name)
}

func (c *call) kind() kind {
	for _, k := range kinds {
		if k.nr == int(c.nr) {
			return k
		}
	}
	panic(fmt.Sprintf("system call %d was not asked for", c.nr))
}

// path returns the file that the call is about, "" for none.
func (c *call) path() string {
	at := c.kind().at
	switch {
	case at[0] < 0:
		return ""
	case at[0] == at[1]:
		return c.fd(c.args[0])
	}
	return c.name(at[0], at[1])
}

// target returns the second name of a rename or link.
func (c *call) target() string { return c.name(2, 3) }

// name resolves a name in a directory.
func (c *call) name(dir, arg int) string {
	text, _ := c.memory(c.args[arg], 4096, true)
	name := string(text)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	if int32(c.args[dir]) == unix.AT_FDCWD {
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", c.tid))
		return filepath.Join(cwd, name)
	}
	return filepath.Join(c.fd(c.args[dir]), name)
}

// fd returns what a descriptor is of.
func (c *call) fd(fd uint64) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", c.tid, int32(fd)))
	return name
}

// position returns where a write without an offset goes.
func (c *call) position() (int64, error) { return c.info("pos:", 10) }

// reads says that the call is about a descriptor that cannot write.
func (c *call) reads() bool {
	flags, err := c.info("flags:", 8)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDONLY
}

// info returns what the kernel tells of the descriptor of the call.
func (c *call) info(name string, radix int) (int64, error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", c.tid, int32(c.args[0])))
	if err != nil {
		return 0, err
	}
	_, text, _ := strings.Cut(string(info), name)
	text, _, _ = strings.Cut(text, "\n")
	return strconv.ParseInt(strings.TrimSpace(text), radix, 64)
}

// memory reads n bytes of the process, or up to the first zero byte of them.
func (c *call) memory(addr, n uint64, text bool) ([]byte, error) {
	if !text {
		return c.read(addr, n)
	}
	var all []byte
	for n > 0 {
		step := min(n, 256-addr%256) // within a page: the next may not be there
		b, err := c.read(addr, step)
		if err != nil {
			return nil, err
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return append(all, b[:end]...), nil
		}
		all, addr, n = append(all, b...), addr+step, n-step
	}
	return all, nil
}

func (c *call) read(addr, n uint64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b := make([]byte, n)
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	got, err := unix.ProcessVMReadv(int(c.tid), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: int(n)}}, 0)
	if err == nil && got != len(b) {
		err = fmt.Errorf("%d of %d bytes of the process were read", got, n)
	}
	return b, err
}

// ours says that a call is about the files of the test, or asynchronous reads: not one
// by which the Go runtime looks at the machine.
func (c *call) ours() bool {
	path := c.path()
	return path == "" && c.kind().at[0] < 0 || strings.HasPrefix(path, base+"/")
}

// A counter counts the calls that are ours and strikes at one of them.
type counter struct {
	strike verdict
	at     int  // from 0; -1: never
	cold   bool // count calls about sources alone
	waits  bool // count io_getevents; io_submit says of which file

	mu   sync.Mutex
	seen int
	read string // a file that the last io_submit reads
	hit  string // the call that was struck, and its file
}

func (n *counter) decide(c *call) verdict {
	if !c.ours() || n.cold && !c.aboutSource() {
		return verdict{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	path := c.path()
	switch c.kind().name {
	case "io_submit":
		if fds := c.submitted(); len(fds) > 0 {
			n.read = c.fd(fds[0])
		}
		if path = n.read; n.waits {
			return verdict{}
		}
	case "io_getevents":
		path = n.read
	}
	n.seen++
	if n.seen-1 != n.at {
		return verdict{}
	}
	n.hit = c.kind().name + " " + strings.TrimPrefix(path, base+"/")
	if c.kind().name == "close" && c.reads() {
		n.hit += reading
	}
	if c.turnsDirect() {
		n.hit += directly
	}
	return n.strike
}

// turnsDirect says that the call turns O_DIRECT of a descriptor on.
func (c *call) turnsDirect() bool {
	return c.kind().name == "fcntl" && c.args[1] == unix.F_SETFL && c.args[2]&unix.O_DIRECT != 0
}

// reading marks the closing of a descriptor that could not write.
const reading = " (read only)"

// count returns how many of the calls an undisturbed conversion of tars makes.
func count(dir string, calls []string, flags ...string) (int, error) {
	want, err := reference()
	if err != nil {
		return 0, err
	}
	c := conversion{name: "tar", args: func(out string) []string { return convert(out, flags...) }, want: want}
	return c.count(dir, calls)
}

// count returns how many of the calls the conversion makes.
func (c conversion) count(dir string, calls []string) (int, error) {
	n := counter{at: -1, cold: c.cold != nil}
	err := c.cool()
	var r result
	if err == nil {
		r, err = supervise(calls, n.decide, c.args(dir+"/out")...)
	}
	if err == nil {
		err = sameAs(dir+"/out", c.want)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: supervised, but undisturbed: %v: %w", c.name, r, err)
	}
	return n.seen, nil
}
