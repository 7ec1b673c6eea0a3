package faults

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// The faults of the reference implementation's reader.

// supervised verifies under supervision. Where Linux AIO was asked for and refused, another test
// may have used it up: it waits.
func supervised(calls []string, decide func(c *call) verdict, args ...string) (report, error) {
	args = append([]string{"verify", "--format", "json", "--progress", "none"}, args...)
	for try := 0; ; try++ {
		r, err := supervise(calls, decide, args...)
		if err != nil {
			return nil, err
		}
		if try == 50 || !strings.Contains(r.stderr, "io_setup") {
			return parseReport(r)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// The reference takes what io_getevents returns for a number of reads that are done, be it
// -EINTR, and its batches share what is in flight. Here a report would differ from that of a run
// that was not interrupted: a sound sample called damaged, a damaged one sound; or the run would hang.
func TestReferenceEINTRInGetevents(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	dir := own(t)
	args := []string{"--backend", "aio", "--block-size", "65536", "--queue-depth", "3", "-j1"}
	for i := range 3 { // sound; a bit of the last sample; bits of two samples
		path, err := plant(i, dir)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	total := counter{at: -1}
	want, err := supervised([]string{"io_getevents"}, total.decide, args...)
	if err != nil {
		need.Missing(t, "no AIO: ", err)
	}
	if problems, _ := want["problems"].([]any); total.seen < 10 || len(problems) != 3 {
		t.Fatalf("%d calls of io_getevents, %d problems", total.seen, len(problems))
	}
	judge := func(what string, got report, err error) {
		if err == nil {
			err = got.differ(want)
		}
		if err != nil || got["backend"] != "aio" {
			t.Errorf("interrupted %s: backend %v, %v", what, got["backend"], err)
		}
	}
	for _, k := range spread(total.seen, 6) { // the last may not come: how many calls there are depends on the device
		n := counter{at: k, strike: verdict{errno: unix.EINTR}}
		got, err := supervised([]string{"io_getevents"}, n.decide, args...)
		judge(fmt.Sprint("at call ", k), got, err)
	}
	for _, every := range []int{2, 3, 5} {
		seen, hits := 0, 0
		got, err := supervised([]string{"io_getevents"}, func(*call) verdict {
			if seen++; seen%every != 0 {
				return verdict{}
			}
			hits++
			return verdict{errno: unix.EINTR}
		}, args...)
		judge(fmt.Sprintf("%d times, at one call of %d", hits, every), got, err)
		if hits == 0 {
			t.Errorf("of %d calls none was interrupted", seen)
		}
	}
}

// The reference asks io_setup for 4,096 slots a reader. A host has 65,536 by default, so the 17th
// reader gets none, does not notice, and its reads fail. Here io_setup would be asked for more than
// the queue depth, or one of many processes that verify at once would be refused.
func TestReference4096SlotsAReader(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	dir := own(t)
	path, err := large()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args    []string
		readers int // at most: one that comes late finds nothing to read
		want    uint64
	}{
		{[]string{"verify", path}, 1, 32},
		{[]string{"verify", "--queue-depth", "5", path}, 1, 5},
		{[]string{"verify", "--queue-depth", "6", "-j2", path, path}, 2, 3},
		{convert(filepath.Join(dir, "out"), "-j3", "--backend", "aio"), 3, 10},
	} {
		for _, source := range sources { // one that is not in the page cache is read by a queue of its own
			if _, err := os.ReadFile(source); err != nil {
				t.Fatal(err)
			}
		}
		var slots []uint64
		r, err := supervise([]string{"io_setup"}, func(c *call) verdict {
			slots = append(slots, c.args[0])
			return verdict{}
		}, row.args...)
		other := slices.ContainsFunc(slots, func(n uint64) bool { return n != row.want })
		if other || len(slots) == 0 || len(slots) > row.readers || err != nil || r.code != 0 {
			t.Errorf("%q asks io_setup for %d slots, want %d for each of %d readers: %v, %v", row.args, slots, row.want, row.readers, r, err)
		}
	}

	readers := cases(40, 20)
	if most := kernelNumber(t, "/proc/sys/fs/aio-max-nr"); readers*4096 <= most {
		t.Logf("aio-max-nr is %d: readers of 4,096 slots would all have room", most)
	}
	refused, slots := crowd(t, readers, path)
	for try := 0; refused > 0 && try < 3; try++ { // another test may have used them up
		time.Sleep(time.Second)
		refused, slots = crowd(t, readers, path)
	}
	if refused > 0 || slots < readers*32 {
		t.Errorf("%d of %d readers at once were refused slots; all have %d", refused, readers, slots)
	}
}

// crowd verifies a shard by so many processes, none of which reads before all have asked for their
// slots. It returns how many were refused theirs, and how many the host had given then.
func crowd(t *testing.T, readers int, path string) (refused, slots int) {
	t.Helper()
	var processes, asked sync.WaitGroup
	together := make(chan struct{})
	var without atomic.Int64
	asked.Add(readers)
	for range readers {
		processes.Go(func() {
			var once sync.Once
			got, err := supervised([]string{"io_submit"}, func(*call) verdict {
				once.Do(asked.Done)
				<-together
				return verdict{}
			}, path)
			once.Do(asked.Done) // it has read by other means, or not at all
			if err != nil || got["sound"] != true {
				t.Errorf("sound is %v: %v", got["sound"], err)
			}
			if text, _ := got["fallback"].(string); strings.Contains(text, "io_setup") {
				without.Add(1)
			}
		})
	}
	asked.Wait()
	slots = aioInUse(t)
	close(together)
	processes.Wait()
	return int(without.Load()), slots
}

// The reference opens with O_DIRECT only where an ioctl that one file system has says so. Elsewhere
// its AIO is synchronous, and what it verifies is the page cache. Here a shard would be opened, or a
// read be submitted on a descriptor, without O_DIRECT.
func TestReferenceSynchronousAIO(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	plain, err := verifyReport(nil, "--backend", "aio", filepath.Join(base, "reference"))
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := plain["fallback"].(string); plain["backend"] != "aio" {
		need.Missing(t, "no O_DIRECT, or no AIO: ", text)
	}
	out := filepath.Join(own(t), "out")
	for _, row := range []struct {
		args  []string
		reads string // how the names of the files end that are verified
	}{
		{[]string{"verify", "--backend", "aio", filepath.Join(base, "reference")}, ".ffr"},
		{convert(out, "--backend", "aio"), ".ffr.tmp"},
	} {
		opened, submitted := map[string]int{}, map[string]int{}
		r, err := supervise([]string{"openat", "io_submit"}, func(c *call) verdict {
			if c.kind().name == "io_submit" {
				for _, fd := range c.submitted() {
					if strings.HasSuffix(c.fd(fd), row.reads) {
						submitted[c.fd(fd)]++
					}
					if !c.direct(fd) {
						t.Errorf("%q submits a read of %s without O_DIRECT", row.args, c.fd(fd))
					}
				}
				return verdict{}
			}
			if path := c.path(); strings.HasSuffix(path, row.reads) && c.args[2]&unix.O_ACCMODE == unix.O_RDONLY {
				opened[path]++
				if c.args[2]&unix.O_DIRECT == 0 {
					t.Errorf("%q opens %s without O_DIRECT", row.args, path)
				}
			}
			return verdict{}
		}, row.args...)
		if err != nil || r.code != 0 || len(opened) != 3 || len(submitted) != 3 {
			t.Errorf("%q opens %v, submits reads of %v: %v, %v", row.args, opened, submitted, r, err)
		}
	}
}

// submitted returns the descriptors that the requests of an io_submit are about: the call has an
// array of addresses of struct iocb.
func (c *call) submitted() (fds []uint64) {
	addresses, _ := c.memory(c.args[2], 8*c.args[1], false)
	for ; len(addresses) >= 8; addresses = addresses[8:] {
		const size, fd = 64, 20
		if iocb, err := c.memory(binary.NativeEndian.Uint64(addresses), size, false); err == nil {
			fds = append(fds, uint64(binary.NativeEndian.Uint32(iocb[fd:])))
		}
	}
	return fds
}

// direct says that a descriptor has O_DIRECT.
func (c *call) direct(fd uint64) bool {
	about := *c
	about.args[0] = fd
	flags, err := about.info("flags:", 8)
	return err == nil && flags&unix.O_DIRECT != 0
}
