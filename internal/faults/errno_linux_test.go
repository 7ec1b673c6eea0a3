package faults

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// errnos are what system calls are made to fail with.
var errnos = []syscall.Errno{unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EINTR, unix.EAGAIN, unix.ENOMEM}

// A failing is a system call that is made to fail, and what the program must make of it.
type failing struct {
	call string

	// absorb are those that must leave no trace: the call is made again, or its work is
	// done another way. Calls that the kernel never ends with an errno of these may
	// absorb it or report it.
	absorb []syscall.Errno

	// harmless says of which files a failure of any kind may leave no trace, the result
	// being right: nothing depends on the call.
	harmless func(path string) bool
}

func never(string) bool  { return false }
func always(string) bool { return true }

// finished says that all that was written to a file is synced long before it is closed,
// or that nothing was written.
func finished(path string) bool {
	return strings.HasSuffix(path, reading) || strings.HasSuffix(path, "/journal") || strings.HasSuffix(path, "/lock")
}

// looked says that a directory is opened to make it or to remove what is in it, either
// of which is then tried all the same, or what an older run has left to see if it still
// is true, or a claim to see whose it is, or a source to tell its format.
func looked(path string) bool {
	for _, end := range []string{"/.ffconvert/tmp", "/.ffconvert/running", "/.ffconvert", "/manifest.json", "/meta.json"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return claim(path) || scratchDir.MatchString(path) || source(path)
}

// scratchDir is the directory of a process's temporary files, which it removes.
var scratchDir = regexp.MustCompile(`/\.ffconvert/tmp/[a-z0-9]{13}$`)

// claim says that a file tells who writes a shard. It saves work and is nothing that the
// result depends on, once it is made.
func claim(path string) bool { return strings.Contains(path, "/.ffconvert/running/") }

// source says that a file is a source. Before it is opened and looked at, a glance at it tells a
// file of another format; one that fails tells nothing.
func source(path string) bool {
	return strings.HasPrefix(path, "in/") || strings.HasPrefix(path, "in-")
}

// glanced says that nothing depends on a look at an open file: a source, a claim or the directory of temporary files, which are
// removed, or the output, which package os looks at to be sure that it is a directory.
func glanced(path string) bool {
	return source(path) || claim(path) || scratchDir.MatchString(path) || strings.HasSuffix(path, "/out")
}

// checkedFirst says that a stat comes before the call that decides: whether OUT exists, before it is
// made; whether a claim or meta.json is a regular file, before it is opened and compared; whether there is a
// directory in the place of an exported file, before it is renamed.
func checkedFirst(path string) bool {
	return source(path) || claim(path) || strings.Contains(path, "/out/s0/") || strings.HasSuffix(path, "/meta.json") || strings.HasSuffix(path, "/out")
}

// signing says that the name of its holder is written into a lock, which is one without it. An export has removed
// the lock when it takes the name out again.
func signing(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, " (deleted)"), "/lock")
}

var eintr = []syscall.Errno{unix.EINTR}

var failings = []failing{
	{"openat", eintr, looked},
	{"pwrite64", eintr, signing},
	{"write", eintr, never},
	{"fallocate", eintr, never},
	{"fsync", eintr, never},
	{"syncfs", nil, never}, // of an exported folder
	{"renameat", nil, never},
	{"renameat2", nil, never},
	{"close", nil, finished},
	{"pread64", eintr, claim},
	{"io_setup", []syscall.Errno{unix.EAGAIN}, always},  // there is another way to read
	{"io_submit", []syscall.Errno{unix.EAGAIN}, source}, // of a source that is not in the page cache: to read ahead
	{"io_getevents", eintr, source},
	// Beyond the table.
	{"fcntl", nil, always}, // O_DIRECT is set where that can be, and must be cleared
	{"mkdirat", nil, never},
	{"unlinkat", nil, always}, // of what is not there, mostly; what is left behind is seen
	{"ftruncate", eintr, signing},
	{"flock", eintr, never},
	{"getdents64", nil, always}, // to remove what is there
	{"read", eintr, source},
	{"newfstatat", nil, checkedFirst},
	{"fstat", nil, glanced},
	{"statx", nil, always}, // it tells the alignment of reads, which one read finds out as well
	{"lseek", nil, never},
	{"fadvise64", nil, always}, // a hint
	{"cachestat", nil, always}, // where it fails, the file is read past the page cache
	{"io_destroy", nil, never},
}

// TestFaultC1 makes each system call fail, with each errno, the first, the second… time
// it is called, until the conversion completes because there is no such call any more.
func TestFaultC1(t *testing.T) {
	long(t)
	t.Parallel()
	cold, err := coldTars()
	if err != nil {
		t.Fatal(err)
	}
	tars, err := bigSources()
	if err != nil {
		t.Fatal(err)
	}
	// Small shards are read back without a queue, see aio.NewReader.
	large := conversion{name: largeName, args: func(out string) []string { return convertFrom(tars, out) }}
	if large.want, err = referenceOf(filepath.Join(base, "reference-c1"), large.args(filepath.Join(base, "reference-c1"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.Concat(conversions(t), exports(t), []conversion{large, cold}) {
		workers, judge := runtime.GOMAXPROCS(0), (*counter).judge
		if c.cold != nil {
			workers, judge = 1, (*counter).judgeCold
			coldLock.Lock()
			defer coldLock.Unlock()
		}
		faults, total := c.faults(t)
		var absorbed, reported atomic.Int64
		sum := atOnce(t, workers, spread(len(faults), len(faults)), func(i int, dir string) error {
			f, out := faults[i], filepath.Join(dir, "out")
			n := counter{at: f.at, strike: verdict{errno: f.errno}, cold: c.cold != nil, waits: f.call == "io_getevents"}
			err := c.cool()
			traced := []string{f.call}
			if n.waits {
				traced = append(traced, "io_submit")
			}
			var r result
			if err == nil {
				r, err = supervise(traced, n.decide, c.args(out)...)
			}
			if err == nil {
				err = judge(&n, f.failing, f.errno, r)
			}
			if err == nil && r.code == 0 {
				absorbed.Add(1)
				err = c.whole(out)
			} else if err == nil {
				reported.Add(1)
				if err = c.sound(out); err == nil {
					err = complete(out, c.want, c.args(out))
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %v at call %d, %s: %w", c.name, unix.ErrnoName(f.errno), f.at, n.hit, err)
			}
			return nil
		})
		t.Logf("C1 [%s] %v calls=%d absorbed=%d reported=%d", c.name, sum, total, absorbed.Load(), reported.Load())
	}
}

// largeName is the conversion of which only calls of Linux AIO fail.
const largeName = "tar-large"

// A fault is a call that fails once.
type fault struct {
	failing
	errno syscall.Errno
	at    int
}

// faults returns the faults to try, and how many calls there are that may fail.
func (c conversion) faults(t *testing.T) (faults []fault, total int) {
	t.Helper()
	for _, f := range failings {
		queue := strings.HasPrefix(f.call, "io_")
		if c.name == largeName && !queue {
			continue
		}
		n := calls(t, func(dir string) (int, error) { return c.count(dir, []string{f.call}) })
		if n == 0 {
			if c.name == largeName || c.name == "tar" && f.call != "syncfs" && !queue {
				t.Errorf("%s is never called", f.call)
			}
			continue
		}
		total += n
		tries := n
		if full {
			tries++ // one more, in case there is one more; it need not be hit
		}
		for i, errno := range errnos {
			if c.name != "tar" && c.name != largeName && errno != unix.EIO && !(full && errno == unix.EINTR) && !(c.cold != nil && coldCall(f.call)) {
				continue // how an errno is taken does not depend on the format
			}
			for k := range tries {
				// By default, the first, middle or last with each errno, another with each.
				if full || k == (i%3)*(n-1)/2 && (i%2 == 0 || n > 3) {
					faults = append(faults, fault{f, errno, k})
				}
			}
		}
	}
	return faults, total
}

// judge says whether a run was right to end as it did after one call has failed.
func (n *counter) judge(f failing, errno syscall.Errno, r result) error {
	_, path, _ := strings.Cut(n.hit, " ")
	switch {
	case n.hit == "", slices.Contains(f.absorb, errno):
		if r.code != 0 {
			return fmt.Errorf("%v; want it absorbed", r)
		}
	case r.code == 0 && (errno == unix.EINTR || errno == unix.EAGAIN || f.harmless(path)):
	case f.call == "flock" && errno == unix.EWOULDBLOCK && n.at == 0:
		return r.clean(1) // another process has the lock: the second call gives it up
	default:
		return r.clean(4)
	}
	return nil
}
