package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// repairArgs repairs with one worker.
func repairArgs(out string) []string {
	return []string{"repair", "-j1", "--progress", "none", out}
}

// harms are what is done to a finished dataset. Each leaves its plan alone.
var harms = []struct {
	name string
	do   func(rng *rand.Rand, out string) error
}{
	{"a bit of a shard", func(rng *rand.Rand, out string) error { return harm(out, anyShard(rng), flipAny(rng)) }},
	{"a shard is cut", func(rng *rand.Rand, out string) error {
		return harm(out, anyShard(rng), func(b []byte) []byte { return b[:rng.IntN(len(b))] })
	}},
	{"a shard is missing", func(rng *rand.Rand, out string) error { return os.Remove(filepath.Join(out, anyShard(rng))) }},
	{"all shards are missing", func(_ *rand.Rand, out string) error {
		for i := range 3 {
			if err := os.Remove(filepath.Join(out, fmt.Sprintf("PART_%05d.ffr", i))); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a sector of zeros", func(rng *rand.Rand, out string) error {
		return harm(out, anyShard(rng), func(b []byte) []byte { clear(b[rng.IntN(len(b)-512)&^511:][:512]); return b })
	}},
	{"bytes after the end", func(rng *rand.Rand, out string) error {
		return harm(out, anyShard(rng), func(b []byte) []byte { return append(b, noise(rng, 1+rng.IntN(5000))...) })
	}},
	{"two shards are swapped", func(rng *rand.Rand, out string) error {
		return exchange(out, "PART_00000.ffr", fmt.Sprintf("PART_%05d.ffr", 1+rng.IntN(2)))
	}},
	{"a bit of an index", func(rng *rand.Rand, out string) error {
		return harm(out, "index/"+strings.TrimSuffix(anyShard(rng), ".ffr")+".arrow", flipAny(rng))
	}},
	{"the indexes are missing", func(_ *rand.Rand, out string) error { return os.RemoveAll(filepath.Join(out, "index")) }},
	{"a bit of meta.json", func(rng *rand.Rand, out string) error { return harm(out, "meta.json", flipAny(rng)) }},
	{"a bit of the manifest", func(rng *rand.Rand, out string) error { return harm(out, "manifest.json", flipAny(rng)) }},
	{"no manifest", func(_ *rand.Rand, out string) error { return os.Remove(filepath.Join(out, "manifest.json")) }},
	{"a bit of the journal", func(rng *rand.Rand, out string) error { return harm(out, ".ffconvert/journal", flipAny(rng)) }},
	{"no journal", func(_ *rand.Rand, out string) error { return os.Remove(filepath.Join(out, ".ffconvert", "journal")) }},
}

func anyShard(rng *rand.Rand) string { return fmt.Sprintf("PART_%05d.ffr", rng.IntN(3)) }

func flipAny(rng *rand.Rand) func([]byte) []byte {
	return func(b []byte) []byte {
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		return b
	}
}

// harm changes a file.
func harm(out, name string, change func([]byte) []byte) error {
	path := filepath.Join(out, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(data), 0o644)
}

// TestFaultG1 harms finished datasets in two ways at once, or one, and repairs them: each
// becomes what it was, to the byte.
func TestFaultG1(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, c := range conversions(t) {
		n := cases(60, 4)
		if c.name == "tar" {
			n = cases(300, 2*len(harms))
		}
		sum := each(t, spread(n, n), func(i int, dir string) error {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			out := filepath.Join(dir, "out")
			if err := c.copy(out); err != nil {
				return err
			}
			done := []string{harms[i%len(harms)].name}
			if err := harms[i%len(harms)].do(rng, out); err != nil {
				return err
			}
			if second := harms[rng.IntN(len(harms))]; i >= len(harms) && second.do(rng, out) == nil { // what is gone cannot be harmed
				done = append(done, second.name)
			}
			// A manifest and a journal that are both in doubt leave no word on the shards: all are
			// written anew. That is sound, too.
			args := repairArgs(out)
			if c.name == "folder" && strings.Contains(strings.Join(done, ""), "journal") {
				args = append(args, c.from...) // which knew them; the parts of a folder are its classes
			}
			if err := complete(out, c.want, args); err != nil {
				return fmt.Errorf("%s: %s: repair: %w", c.name, strings.Join(done, ", "), err)
			}
			r, err := run("verify", "--progress", "none", out)
			if err == nil && r.code != 0 {
				err = fmt.Errorf("%s: %s: repaired, but verify says %v", c.name, strings.Join(done, ", "), r)
			}
			return err
		})
		t.Logf("G1 [%s] %v", c.name, sum)
	}
}

// TestFaultG2 kills a repair in place of each of its system calls that write. What it
// leaves has no bytes that were neither there before nor are right, and either repair or
// the conversion itself completes it.
func TestFaultG2(t *testing.T) {
	slow(t)
	t.Parallel()
	x := newMending(t)
	total := calls(t, func(dir string) (int, error) { return x.count(dir, writing) })
	sum := each(t, spread(total+1, 16), func(k int, dir string) error {
		n := counter{at: k, strike: verdict{kill: true}}
		if _, err := x.disturb(dir, writing, &n); err != nil {
			return err
		}
		if err := x.finish(dir, k); err != nil {
			return fmt.Errorf("killed at call %d, %s: %w", k, n.hit, err)
		}
		return nil
	})
	t.Logf("G2 %v", sum)
}

// TestFaultG3 makes each system call of a repair fail.
func TestFaultG3(t *testing.T) {
	slow(t)
	t.Parallel()
	x := newMending(t)
	var faults []fault
	for _, f := range failings {
		n := calls(t, func(dir string) (int, error) { return x.count(dir, []string{f.call}) })
		for k := range n {
			for _, errno := range []unix.Errno{unix.EIO, unix.EINTR} {
				if full || k == n/2 && errno == unix.EIO {
					faults = append(faults, fault{f, errno, k})
				}
			}
		}
	}
	var repaired, reported atomic.Int64
	sum := each(t, spread(len(faults), len(faults)), func(i int, dir string) error {
		f := faults[i]
		n := counter{at: f.at, strike: verdict{errno: f.errno}}
		r, err := x.disturb(dir, []string{f.call}, &n)
		if err == nil {
			switch {
			case r.code == 0: // absorbed; or what could not be read was written anew
				repaired.Add(1)
				err = sameAs(filepath.Join(dir, "out"), x.want)
			default:
				reported.Add(1)
				err = r.clean(1, 2, 4)
			}
		}
		if err == nil {
			err = x.finish(dir, f.at)
		}
		if err != nil {
			return fmt.Errorf("%v at call %d, %s: %w", unix.ErrnoName(f.errno), f.at, n.hit, err)
		}
		return nil
	})
	t.Logf("G3 %v repaired=%d reported=%d", sum, repaired.Load(), reported.Load())
}

// A mending is the repair that rows disturb: of a dataset of tars in which one shard has a
// damaged sample, one is missing, and one has no index.
type mending struct {
	conversion
	hurt tree
}

func newMending(t *testing.T) *mending {
	t.Helper()
	x := &mending{conversion: conversions(t)[0]}
	dir, remove, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if err := x.prepare(dir); err != nil {
		t.Fatal(err)
	}
	if x.hurt, err = readTree(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	return x
}

// copy copies what the undisturbed conversion has left.
func (c conversion) copy(out string) error {
	name := "reference"
	if c.name != "tar" {
		name += "-" + c.name
	}
	return os.CopyFS(out, os.DirFS(filepath.Join(base, name)))
}

// prepare makes the damaged dataset.
func (x *mending) prepare(dir string) error {
	out := filepath.Join(dir, "out")
	if err := x.copy(out); err != nil {
		return err
	}
	for _, name := range []string{"PART_00002.ffr", "index/PART_00000.arrow"} {
		if err := os.Remove(filepath.Join(out, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return harm(out, "PART_00001.ffr", func(b []byte) []byte { b[len(b)-100] ^= 1; return b })
}

// disturb prepares and repairs, and checks that nothing is there then that is neither
// right nor was there before.
func (x *mending) disturb(dir string, calls []string, n *counter) (result, error) {
	if err := x.prepare(dir); err != nil {
		return result{}, err
	}
	out := filepath.Join(dir, "out")
	r, err := supervise(calls, n.decide, repairArgs(out)...)
	if err != nil {
		return r, err
	}
	got, err := readTree(out)
	if err != nil {
		return r, err
	}
	if err := got.mixture(x.want, x.hurt); err != nil {
		return r, err
	}
	if _, ok := got["manifest.json"]; !ok {
		return r, fmt.Errorf("the manifest is gone: %w", errBad)
	}
	return r, nil
}

func (x *mending) count(dir string, calls []string) (int, error) {
	n := counter{at: -1}
	r, err := x.disturb(dir, calls, &n)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("undisturbed: %v", r)
	}
	return n.seen, err
}

// finish completes what was disturbed: by repair, or by the conversion, in turn.
func (x *mending) finish(dir string, i int) error {
	out := filepath.Join(dir, "out")
	if i%2 == 0 {
		return complete(out, x.want, repairArgs(out))
	}
	r, err := run(x.args(out)...)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("%v", r)
	}
	if err != nil {
		return err
	}
	got, err := readTree(out)
	if err != nil {
		return err
	}
	// A repair that had not found the damage yet has not told of it: the conversion, which
	// looks at headers, may then keep it. verify must say so.
	if bytes.Equal(got["PART_00001.ffr"], x.hurt["PART_00001.ffr"]) {
		found, err := run("verify", "--progress", "none", out)
		if err == nil {
			err = found.clean(2)
		}
		if err != nil {
			return err
		}
		return complete(out, x.want, repairArgs(out))
	}
	return got.differ(x.want)
}
