package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A report is what verify prints for programs.
type report map[string]any

// verifyReport verifies, with one system call answered with an errno where fail is set.
func verifyReport(fail *counter, args ...string) (report, error) {
	args = append([]string{"verify", "--format", "json", "--progress", "none"}, args...)
	var r result
	var err error
	if fail == nil {
		r, err = run(args...)
	} else {
		r, err = supervise([]string{"io_setup"}, fail.decide, args...)
	}
	if err != nil {
		return nil, err
	}
	return parseReport(r)
}

// parseReport parses a report and checks that the exit status is what it says.
func parseReport(r result) (report, error) {
	var rep report
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		return nil, fmt.Errorf("%v, printed %q: %w", r, r.stdout, err)
	}
	problems, _ := rep["problems"].([]any)
	sound, _ := rep["sound"].(bool)
	switch {
	case sound && len(problems) == 0 && r.code == 0 && r.stderr == "":
		return rep, nil
	case !sound && len(problems) > 0:
		return rep, r.clean(2)
	}
	return nil, fmt.Errorf("%v, but it reports sound=%v and %d problems", r, sound, len(problems))
}

// differ tells the first difference other than in how and how fast was read.
func (r report) differ(want report) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch name {
		case "seconds", "mb_per_second", "backend", "fallback", "read_from", "queue_depth":
			continue
		}
		if !reflect.DeepEqual(r[name], want[name]) {
			return fmt.Errorf("%s is %v, want %v", name, r[name], want[name])
		}
	}
	return nil
}

// damages are what is done to a shard; the first is nothing.
var damages = []struct {
	name string
	do   func(b []byte) []byte
}{
	{"none", func(b []byte) []byte { return b }},
	{"a bit of the last sample", func(b []byte) []byte { b[len(b)-3] ^= 4; return b }},
	{"bits of two samples", func(b []byte) []byte { b[len(b)-1] ^= 1; b[len(b)/2] ^= 128; return b }},
	{"a sector of zeros", func(b []byte) []byte { clear(b[len(b)/2&^511:][:512]); return b }},
	{"a bit of the header", func(b []byte) []byte { b[17] ^= 2; return b }},
	{"cut", func(b []byte) []byte { return b[:len(b)*2/3] }},
	{"empty", func([]byte) []byte { return nil }},
	{"bytes after the end", func(b []byte) []byte { return append(b, 0, 0, 0) }},
}

// plant copies a shard of the reference to dir, damaged in the i-th way.
func plant(i int, dir string) (path string, err error) {
	want, err := reference()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("PART_%05d.ffr", i%3)
	path = filepath.Join(dir, name)
	return path, os.WriteFile(path, damages[i%len(damages)].do(slices.Clone(want[name])), 0o644)
}

// TestFaultA6 swaps two shard files of a dataset. Each is sound: the manifest alone tells.
func TestFaultA6(t *testing.T) {
	slow(t)
	t.Parallel()
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	pairs := [][2]string{{"PART_00000.ffr", "PART_00001.ffr"}, {"PART_00000.ffr", "PART_00002.ffr"}, {"PART_00001.ffr", "PART_00002.ffr"}}
	sum := each(t, spread(len(pairs), len(pairs)), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		if err := os.CopyFS(out, os.DirFS(filepath.Join(base, "reference"))); err != nil {
			return err
		}
		a, b, aside := filepath.Join(out, pairs[i][0]), filepath.Join(out, pairs[i][1]), filepath.Join(dir, "aside")
		for _, step := range [][2]string{{a, aside}, {b, a}, {aside, b}} {
			if err := os.Rename(step[0], step[1]); err != nil {
				return err
			}
		}
		r, err := verifyReport(nil, out)
		if err != nil {
			return err
		}
		if told := r.shards(); !told[pairs[i][0]] || !told[pairs[i][1]] {
			return fmt.Errorf("%w as sound: %v swapped", errBad, pairs[i])
		}
		return nil
	})
	t.Logf("A6 [files] %v", sum)
}

// TestFaultC4 verifies where Linux AIO is refused: by a limit of the host that others
// have used up, by an old kernel, by a container. The report must say so, and must be
// the same otherwise. A large shard comes first: for small ones alone there is no queue.
func TestFaultC4(t *testing.T) {
	slow(t)
	refusals := []unix.Errno{unix.EAGAIN, unix.ENOSYS, unix.EPERM}
	first, err := large()
	if err != nil {
		t.Fatal(err)
	}
	n := len(damages) * len(refusals)
	sum := each(t, spread(n, n), func(i int, dir string) error {
		path, err := plant(i/len(refusals), dir)
		if err != nil {
			return err
		}
		want, err := verifyReport(nil, "-j1", first, path)
		for try := 0; err == nil && want["backend"] != "aio" && try < 50; try++ { // another test may have used it up
			time.Sleep(100 * time.Millisecond)
			want, err = verifyReport(nil, "-j1", first, path)
		}
		if err != nil {
			return err
		}
		if want["backend"] != "aio" {
			return fmt.Errorf("it reads by %v where nothing is refused: %v", want["backend"], want["fallback"])
		}
		fail := &counter{strike: verdict{errno: refusals[i%len(refusals)]}}
		got, err := verifyReport(fail, "-j1", first, path)
		if err == nil {
			err = got.fellBack(want)
		}
		if err != nil {
			return fmt.Errorf("io_setup ends with %v, damage: %s: %w", unix.ErrnoName(refusals[i%len(refusals)]), damages[i/len(refusals)].name, err)
		}
		return nil
	})
	t.Logf("C4 [refused] %v", sum)
	t.Logf("C4 [cold] %v", refusedCold(t, refusals))
	if full {
		t.Logf("C4 [used-up] %v # for the whole host", usedUp(t, first))
	}
}

// fellBack says whether a report tells of a fallback, and is like another otherwise.
func (r report) fellBack(want report) error {
	if text, _ := r["fallback"].(string); r["backend"] != "pread" || text == "" {
		return fmt.Errorf("backend %v, fallback %q", r["backend"], r["fallback"])
	}
	return r.differ(want)
}

// usedUp lowers the limit of the host, which is done for as short a time as can be: all
// its programs are under it.
func usedUp(t *testing.T, first string) tally {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("not root: aio-max-nr is left alone")
		return tally{}
	}
	const limit = "/proc/sys/fs/aio-max-nr"
	before := fmt.Sprint(kernelNumber(t, limit))
	restore := func() {
		if err := os.WriteFile(limit, []byte(before), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	sum := tally{}
	for i := range damages {
		sum.cases++
		dir, remove, err := scratch()
		if err != nil {
			t.Fatal(err)
		}
		path, err := plant(i, dir)
		if err != nil {
			t.Fatal(err)
		}
		want, err := verifyReport(nil, "-j1", first, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(limit, []byte("1"), 0o644); err != nil {
			need.Missing(t, err)
		}
		got, err := verifyReport(nil, "-j1", first, path)
		restore()
		if err == nil {
			err = got.fellBack(want)
		}
		if err != nil {
			sum.lost++
			t.Errorf("aio-max-nr used up, damage: %s: %v", damages[i].name, err)
		}
		remove()
	}
	sum.cases++
	err := convertCold(func(c conversion, out string) (result, error) {
		if err := os.WriteFile(limit, []byte("1"), 0o644); err != nil {
			return result{}, err
		}
		defer restore()
		return run(c.args(out)...)
	})
	if err != nil {
		sum.lost++
		t.Errorf("aio-max-nr used up, a cold conversion: %v", err)
	}
	return sum
}

// TestFaultD3 verifies shards, damaged ones among them, in each way there is to read.
func TestFaultD3(t *testing.T) {
	slow(t)
	t.Parallel()
	const memory = "/dev/shm"
	shm, err := os.MkdirTemp(memory, "ffconvert-faults-")
	if err != nil {
		need.Missing(t, err)
	}
	defer os.RemoveAll(shm)
	n := cases(100, 16)
	var reports, damaged atomic.Int64
	sum := each(t, spread(n, n), func(i int, dir string) error {
		path, err := plant(i, dir)
		if err != nil {
			return err
		}
		inMemory := filepath.Join(shm, fmt.Sprint(i))
		if err := os.Mkdir(inMemory, 0o755); err != nil {
			return err
		}
		copied, err := plant(i, inMemory)
		if err != nil {
			return err
		}
		block := fmt.Sprint([]int{4096, 8192, 1 << 16, 1 << 20, 4 << 20}[i/len(damages)%5])
		depth := fmt.Sprint(1 + i%7)
		var want report
		for _, path := range []string{path, copied} {
			for _, backend := range []string{"aio", "pread", "auto"} {
				got, err := verifyReport(nil, "--backend", backend, "--block-size", block, "--queue-depth", depth, path)
				if err == nil && got["sound"] != (i%len(damages) == 0) {
					err = fmt.Errorf("%w: sound is %v", errBad, got["sound"])
				}
				if err == nil && backend != "auto" && !strings.HasPrefix(path, shm) && got["backend"] != backend {
					err = fmt.Errorf("it reads by %v", got["backend"])
				}
				if want == nil {
					want = got
				}
				if err == nil {
					err = got.differ(want)
				}
				if err != nil {
					return fmt.Errorf("backend %s, blocks of %s, depth %s, damage: %s: %w", backend, block, depth, damages[i%len(damages)].name, err)
				}
				reports.Add(1)
			}
		}
		if i%len(damages) != 0 {
			damaged.Add(1)
		}
		return nil
	})
	t.Logf("D3 %v reports=%d damaged=%d", sum, reports.Load(), damaged.Load())
}
