package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// longestStop is how long a conversion may take to end when it is told to. Where other tests run beside this one, it may be
// without a processor or its device for longer.
func longestStop() time.Duration {
	if full {
		return 2 * time.Second
	}
	return hang / 3
}

// TestFaultB5 stops conversions that take a while, and goes on with them: with the same
// command, with another number of workers, with sources that are no longer the same. It
// is not parallel: it measures time.
func TestFaultB5(t *testing.T) {
	slow(t)
	large, err := writeLarge(filepath.Join(base, "in-large"), cases(300, 12)<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Join(base, "in-large"))
	args := func(out string, workers int) []string {
		return append(append([]string{"tar", "--shards", "12", "--progress", "none", "-j", fmt.Sprint(workers)}, large...), out)
	}
	out := filepath.Join(base, "reference-large")
	want, err := referenceOf(out, args(out, 2))
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(out)
	b := stopping{args: args, want: want, takes: make(map[int]time.Duration)}
	for _, workers := range []int{1, 2, 4, 16} {
		b.takes[workers] = typicalOf(t, func(out string) []string { return args(out, workers) })
	}
	b.stop(t)
	b.resume(t)
	changed(t)
}

// writeLarge writes three tars of so many bytes together.
func writeLarge(dir string, size int) ([]string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	random := rand.NewChaCha8([32]byte{5})
	rng := rand.New(random)
	var paths []string
	for i := range 3 {
		var members []member
		for got := 0; got < size/3; {
			data := make([]byte, 20<<10+rng.IntN(400<<10))
			random.Read(data)
			members = append(members, member{fmt.Sprintf("%d/%05d.jpg", i, len(members)), data})
			got += len(data)
		}
		path := filepath.Join(dir, fmt.Sprintf("large-%d.tar", i))
		if err := writeTar(path, members); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// stopping is a conversion that takes a while, with any number of workers.
type stopping struct {
	args  func(out string, workers int) []string
	want  tree
	takes map[int]time.Duration // undisturbed, by workers
}

// after returns the moment of a conversion when a share of the time that it takes is over.
func (b stopping) after(workers int, share float64) func(began time.Time) {
	return func(began time.Time) {
		time.Sleep(time.Until(began.Add(time.Duration(share * float64(b.takes[workers])))))
	}
}

// interrupt sends a signal at a moment, for which it waits, and returns how long the conversion then took to end.
func (b stopping) interrupt(out string, workers int, moment func(began time.Time), sig syscall.Signal) (r result, stopped time.Duration, err error) {
	cmd, cancel := command(program(), b.args(out, workers)...)
	defer cancel()
	var sent time.Time
	r, err = finish(cmd, cmd.Start, func(began time.Time) {
		moment(began)
		sent = time.Now()
		cmd.Process.Signal(sig)
	})
	return r, time.Since(sent), err
}

// stop sends SIGINT and SIGTERM at moments spread over the run: it must end soon, say in
// one line how to go on, show nothing bad, and be completed by the same command.
func (b stopping) stop(t *testing.T) {
	t.Helper()
	n := cases(16, 4)
	var longest time.Duration
	through := 0
	sum := atOnce(t, 1, spread(n, n), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		workers := []int{1, 2, 4, 16}[i%4]
		sig := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i/4%2]
		r, took, err := b.interrupt(out, workers, b.after(workers, (float64(i)+0.5)/float64(n)), sig)
		if err != nil {
			return err
		}
		longest = max(longest, took)
		switch {
		case r.code == 0:
			through++
		case r.signal == sig: // before main has begun, or between the end of the run and that of the process
			if _, err := os.Stat(out); err == nil {
				if err := sameAs(out, b.want); err != nil {
					return fmt.Errorf("%v, with an output begun: %w", r, err)
				}
				through++
			}
		default:
			if err := r.clean(128 + int(sig)); err != nil {
				return err
			}
			if !strings.Contains(r.stderr, "the same command") {
				return fmt.Errorf("%v; want it to say how to go on", r)
			}
		}
		if took > longestStop() {
			return fmt.Errorf("-j%d: it ends %v after %v", workers, took, sig)
		}
		if err := sound(out, b.want); err != nil {
			return err
		}
		return complete(out, b.want, b.args(out, workers))
	})
	t.Logf("B5 [stop] %v longest_ms=%d completed=%d", sum, longest.Milliseconds(), through)
}

// resume goes on with another number of workers. Shards that were finished are kept.
func (b stopping) resume(t *testing.T) {
	t.Helper()
	jobs := []int{1, 2, 16}
	n := len(jobs) * len(jobs)
	var kept atomic.Int64
	sum := atOnce(t, 1, spread(n, 3), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		first, then := jobs[i/len(jobs)], jobs[i%len(jobs)]
		sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[i%2]
		third := func(time.Time) { // a share of the time could be over before any is finished
			soon(func() bool { _, err := os.Stat(filepath.Join(out, "PART_00002.ffr")); return err == nil })
		}
		if _, _, err := b.interrupt(out, first, third, sig); err != nil {
			return err
		}
		names, err := filepath.Glob(filepath.Join(out, "*.ffr"))
		if err != nil {
			return err
		}
		before := make([]os.FileInfo, len(names))
		for i, name := range names {
			if before[i], err = os.Stat(name); err != nil {
				return err
			}
		}
		if err := complete(out, b.want, b.args(out, then)); err != nil {
			return fmt.Errorf("-j%d, then -j%d: %w", first, then, err)
		}
		for i, name := range names {
			if now, err := os.Stat(name); err != nil || !os.SameFile(before[i], now) {
				continue // it had its name, but was not in the journal
			}
			kept.Add(1)
		}
		return nil
	})
	if kept.Load() == 0 {
		t.Error("no shard was kept: nothing was resumed")
	}
	t.Logf("B5 [resume] %v kept_shards=%d", sum, kept.Load())
}

// changes are what may happen to a source file between two runs; each must be noticed.
var changes = []struct {
	name string
	do   func(path string) error
}{
	{"longer", func(path string) error { return edit(path, func(b []byte) []byte { return append(b, b...) }) }},
	{"shorter", func(path string) error { return edit(path, func(b []byte) []byte { return b[:len(b)/2] }) }},
	{"another content", func(path string) error {
		return edit(path, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	}},
	{"touched", func(path string) error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) }},
	{"an older time", func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) }},
	{"longer, its time put back", func(path string) error {
		st, err := os.Stat(path)
		if err == nil {
			err = edit(path, func(b []byte) []byte { return append(b, b...) })
		}
		if err == nil {
			err = os.Chtimes(path, time.Time{}, st.ModTime())
		}
		return err
	}},
	{"removed", os.Remove},
}

func edit(path string, do func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, do(b), 0o644)
}

// changed kills conversions when their first shard is finished, changes a source, and
// runs the same command: it must be refused by the name of the source, and change nothing.
// When the source is as it was the command completes.
func changed(t *testing.T) {
	t.Helper()
	all := conversions(t)
	n := len(all) * len(changes)
	sum := each(t, spread(n, 8), func(i int, dir string) error {
		c, change := all[i/len(changes)], changes[i%len(changes)]
		from, files, err := c.copySources(filepath.Join(dir, "in"))
		if err != nil {
			return err
		}
		if c.name == "ffr" {
			files = slices.DeleteFunc(files, func(name string) bool { return !strings.HasSuffix(name, ".ffr") })
		}
		out, victim := filepath.Join(dir, "out"), files[len(files)/2]
		args := formatArgs(c.name, from, out)
		finished := 0
		r, err := supervise([]string{"renameat2"}, func(k *call) verdict {
			if strings.HasSuffix(k.target(), ".ffr") {
				finished++
			}
			return verdict{kill: finished == 2} // the first one is in the journal
		}, args...)
		if err != nil || r.signal == 0 {
			return errors.Join(err, fmt.Errorf("not killed: %v", r))
		}
		st, err1 := os.Stat(victim)
		whole, err2 := os.ReadFile(victim)
		before, err3 := readTree(out)
		if err := errors.Join(err1, err2, err3, change.do(victim)); err != nil {
			return err
		}
		codes, names := []int{3}, filepath.Base(victim)
		switch {
		case c.name == "ffr":
			codes = []int{2, 3, 5} // what differs from its checksums is corrupt, whenever it was changed; or it is missing
		case c.name == "folder":
			names = filepath.Base(filepath.Dir(victim)) // a class is a part
		case c.name == "csv" && change.name == "removed":
			codes, names = []int{1}, "it was made of 2 sources, not 1" // a directory with fewer parts is another dataset
		}
		r, err = run(args...)
		if err == nil {
			err = r.clean(codes...)
		}
		if err == nil && !strings.Contains(r.stderr, names) {
			err = fmt.Errorf("%v; want it to name %s", r, names)
		}
		if err == nil {
			var after tree
			if after, err = readTree(out); err == nil {
				err = after.withoutScratch().differ(before.withoutScratch())
			}
		}
		if err == nil {
			err = errors.Join(os.WriteFile(victim, whole, 0o644), os.Chtimes(victim, time.Time{}, st.ModTime()))
		}
		if err == nil {
			if r, err = run(args...); err == nil && r.code != 0 {
				err = fmt.Errorf("with the source as it was: %v", r)
			}
		}
		if err == nil {
			_, err = verifyReport(nil, out)
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", c.name, change.name, err)
		}
		return nil
	})
	t.Logf("B5 [changed] %v", sum)
}

// copySources copies the sources of a conversion. It returns their names, and all files
// that belong to them.
func (c conversion) copySources(dir string) (from, files []string, err error) {
	for i, name := range c.from {
		to := filepath.Join(dir, fmt.Sprint(i), filepath.Base(name))
		from = append(from, to)
		st, err := os.Stat(name)
		if err == nil && st.IsDir() {
			err = os.CopyFS(to, os.DirFS(name))
		} else if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
			var data []byte
			if err == nil {
				data, err = os.ReadFile(name)
			}
			if err == nil {
				err = os.WriteFile(to, data, 0o644)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		err = filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return from, files, nil
}
