package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// coldTars converts tars that are not in the page cache. It does not verify, so that all requests of Linux AIO
// read sources. Only one test case at a time may use the sources: what it reads is in the page cache then.
var coldTars = sync.OnceValues(func() (conversion, error) {
	return newCold("in-cold", "-j1", 16, 200<<10, 300, 3<<10)
})

// coldLock is held by the test case that uses coldTars.
var coldLock sync.Mutex

// newCold writes tars below base and returns a conversion of them. There is a tar for each number of samples
// and their size.
func newCold(dir, jobs string, counts ...int) (conversion, error) {
	rng := rand.New(rand.NewPCG(5, 4))
	if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
		return conversion{}, err
	}
	c := conversion{name: "tar-cold"}
	for i := 0; i < len(counts); i += 2 {
		var members []member
		for j := range counts[i] {
			members = append(members, member{fmt.Sprintf("%d/%04d.jpg", i, j), noise(rng, counts[i+1])})
		}
		path := filepath.Join(base, dir, fmt.Sprintf("cold-%02d.tar", i/2))
		if err := writeTar(path, members); err != nil {
			return conversion{}, err
		}
		c.cold = append(c.cold, path)
	}
	c.from = c.cold
	c.args = func(out string) []string { return convertFrom(c.from, out, jobs, "--no-verify") }
	var err error
	c.want, err = referenceOf(filepath.Join(base, "reference-"+dir), c.args(filepath.Join(base, "reference-"+dir)))
	return c, err
}

// cool removes the sources of a cold conversion from the page cache.
func (c conversion) cool() error {
	for _, path := range c.cold {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// TestColdReads: a conversion of sources that are not in the page cache reads the runs of each by Linux AIO with
// O_DIRECT, or the cold part of row C1 would prove nothing. Its index reads through the page cache, and reads ahead.
func TestColdReads(t *testing.T) {
	slow(t)
	t.Parallel()
	c, err := coldTars()
	if err != nil {
		t.Fatal(err)
	}
	coldLock.Lock()
	defer coldLock.Unlock()
	if err := c.cool(); err != nil {
		t.Fatal(err)
	}
	var events []string // of a source, in order
	advised, asked := 0, 0
	r, err := supervise([]string{"fcntl", "io_submit", "fadvise64", "cachestat"}, func(k *call) verdict {
		switch k.kind().name {
		case "fcntl":
			if strings.HasSuffix(k.path(), ".tar") && k.turnsDirect() {
				events = append(events, "turn "+filepath.Base(k.path()))
			}
		case "io_submit":
			for _, fd := range k.submitted() {
				if !k.direct(fd) || !strings.HasPrefix(k.fd(fd), filepath.Dir(c.cold[0])) {
					t.Errorf("a request reads %s, or not with O_DIRECT", k.fd(fd))
				}
				events = append(events, "read "+filepath.Base(k.fd(fd)))
			}
		case "fadvise64":
			if k.args[3] == unix.FADV_WILLNEED && k.ours() {
				advised++
			}
		case "cachestat":
			asked++
		}
		return verdict{}
	}, c.args(filepath.Join(own(t), "out"))...)
	if err != nil || r.code != 0 {
		t.Fatal(r, err)
	}
	count := make(map[string]int)
	for _, event := range events {
		count[event]++
	}
	if count["turn cold-00.tar"] < 1 || count["read cold-00.tar"] < 12 || advised < len(c.cold) || asked < len(c.cold) {
		t.Errorf("O_DIRECT turned on, and reads with it: %v, %d calls to read ahead, %d questions to the page cache", count, advised, asked)
	}
	t.Logf("%v, advised %d, asked %d", count, advised, asked)
}

// aboutSource says that a call is about a source, or a request of Linux AIO, which in a cold conversion reads
// one.
func (c *call) aboutSource() bool {
	return c.ours() && (c.path() == "" || strings.Contains(c.path(), "/in-cold"))
}

// absorbedCold says that a call of the cold path is one without which the file is read through the page cache.
func absorbedCold(hit string) bool {
	name, _, _ := strings.Cut(hit, " ")
	switch name {
	case "cachestat", "fadvise64", "io_setup", "statx":
		return true
	}
	return strings.HasSuffix(hit, directly)
}

// directly marks the turning on of O_DIRECT.
const directly = " (direct)"

// judgeCold says whether a cold conversion was right to end as it did after one call about a source has failed.
func (n *counter) judgeCold(f failing, errno syscall.Errno, r result) error {
	if r.code == 0 && (f.call == "io_submit" || f.call == "io_getevents") {
		return nil // it was to read ahead what no sample needs; the caller compares the bytes
	}
	if err := n.judge(f, errno, r); err != nil {
		return err
	}
	if r.code == 0 {
		return nil
	}
	switch {
	case absorbedCold(n.hit):
		return fmt.Errorf("%v; want it absorbed", r)
	case strings.Count(r.stderr, errno.Error()) != 1 || strings.Count(r.stderr, ".tar") != 1:
		return fmt.Errorf("%v; want it to name the error and one source, once", r)
	case (f.call == "pread64" || strings.HasPrefix(f.call, "io_")) && !strings.Contains(r.stderr, "offset"):
		return fmt.Errorf("%v; want it to tell the offset", r)
	}
	return nil
}

// coldCall says that each errno is tried with a call, of which a cold conversion makes few.
func coldCall(name string) bool { return name == "openat" || strings.HasPrefix(name, "io_") }

// convertCold has sources removed from the page cache and converted, which must succeed.
func convertCold(convert func(c conversion, out string) (result, error)) error {
	c, err := coldTars()
	if err != nil {
		return err
	}
	coldLock.Lock()
	defer coldLock.Unlock()
	dir, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	if err := c.cool(); err != nil {
		return err
	}
	r, err := convert(c, filepath.Join(dir, "out"))
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	if err == nil {
		err = sameAs(filepath.Join(dir, "out"), c.want)
	}
	return err
}

// refusedCold converts cold sources where Linux AIO is refused: no queue, or a queue that takes no request.
func refusedCold(t *testing.T, refusals []syscall.Errno) (sum tally) {
	t.Helper()
	for _, name := range []string{"io_setup", "io_submit"} {
		for _, errno := range refusals {
			sum.cases++
			refused := 0
			err := convertCold(func(c conversion, out string) (result, error) {
				return supervise([]string{name}, func(*call) verdict { refused++; return verdict{errno: errno} }, c.args(out)...)
			})
			if err == nil && refused == 0 {
				err = errors.New("it is never called")
			}
			if err != nil {
				sum.lost++
				t.Errorf("cold sources, %s ends with %s: %v", name, unix.ErrnoName(errno), err)
			}
		}
	}
	return sum
}

// stopCold interrupts conversions of cold sources at calls about these, which must then be completed by the same
// command.
func stopCold(t *testing.T) tally {
	t.Helper()
	c, err := coldTars()
	if err != nil {
		t.Fatal(err)
	}
	coldLock.Lock()
	defer coldLock.Unlock()
	reading := []string{"openat", "cachestat", "fadvise64", "io_setup", "io_submit", "io_getevents", "pread64"}
	total := calls(t, func(dir string) (int, error) { return c.count(dir, reading) })
	n := cases(100, 10)
	return atOnce(t, 1, spread(n, n), func(i int, dir string) error {
		sig, code := syscall.SIGINT, 130
		if i%2 == 1 {
			sig, code = syscall.SIGTERM, 143
		}
		out := filepath.Join(dir, "out")
		k := counter{at: total * i / n, strike: verdict{signal: sig}, cold: true}
		if err := c.cool(); err != nil {
			return err
		}
		r, err := supervise(reading, k.decide, c.args(out)...)
		if err == nil && r.code != 0 && r.signal != sig {
			err = r.clean(code)
		}
		if err == nil {
			err = sound(out, c.want)
		}
		if err == nil {
			err = r.cleanedUp(out)
		}
		if err == nil {
			err = complete(out, c.want, c.args(out))
		}
		if err != nil {
			return fmt.Errorf("%v at %s: %w", sig, k.hit, err)
		}
		return nil
	})
}

// fewFiles converts many cold sources where few files may be open: it ends with the right bytes, or it names each
// source that it cannot open.
func fewFiles(t *testing.T) tally {
	t.Helper()
	counts := make([]int, 0, 64)
	for range 32 {
		counts = append(counts, 12, 40<<10)
	}
	c, err := newCold("in-cold-many", "-j16", counts...)
	if err != nil {
		t.Fatal(err)
	}
	limits := []int{20, 24, 28, 32, 36, 40, 48, 64}
	return atOnce(t, 1, spread(len(limits), len(limits)), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		err := c.cool()
		var r result
		if err == nil {
			r, err = execute("prlimit", append([]string{fmt.Sprintf("--nofile=%d:%[1]d", limits[i]), program()}, c.args(out)...)...)
		}
		if err == nil && r.code == 0 {
			err = sameAs(out, c.want)
		} else if err == nil {
			lines := strings.Count(r.stderr, "\n") // one for each source that cannot be opened
			if r.code != 4 || limits[i] >= 32 || lines != strings.Count(r.stderr, "ffconvert: ") || lines != strings.Count(r.stderr, ": too many open files\n") {
				err = fmt.Errorf("%v; want status 4, of less than 32 files", r)
			} else {
				err = sound(out, c.want)
			}
		}
		if err == nil {
			err = complete(out, c.want, c.args(out))
		}
		if err != nil {
			return fmt.Errorf("%d open files: %w", limits[i], err)
		}
		return nil
	})
}
