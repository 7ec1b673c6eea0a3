package shard

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// Tasks in any order, some of them twice and at once, make what one process makes.
func TestTasks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		plan     func(t *testing.T, src *fixture) *Plan
		together bool
	}{
		{"cut at samples", func(t *testing.T, src *fixture) *Plan {
			return newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 9}})
		}, false},
		{"opened together", func(t *testing.T, src *fixture) *Plan {
			return newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 9}})
		}, true},
		{"shuffled", func(t *testing.T, src *fixture) *Plan {
			return newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 9}, Shuffle: &Shuffle{3}})
		}, true},
		{"shuffled, parts as needed", func(t *testing.T, src *fixture) *Plan {
			return newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 9}, Shuffle: &Shuffle{3}})
		}, false},
		{"of whole parts", func(t *testing.T, src *fixture) *Plan {
			return newWholePlan(t, src, Options{Sizes: Sizes{Shards: 5}})
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			src := newFixture(81, 7, 30, 900)
			plan := row.plan(t, src)
			reference := t.TempDir()
			var err error
			if plan.Whole {
				_, err = writeStock(t, &stocked{fixture: src}, plan, reference, WriteOptions{})
			} else {
				_, err = write(t, src, plan, reference, WriteOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			want := files(t, reference)
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, 1))
				n := 1 + r.IntN(12)
				var tasks []Task
				for k := range n {
					for range 1 + r.IntN(2) {
						tasks = append(tasks, Task{k, n})
					}
				}
				r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
				var dir string
				if row.together {
					dir = begin(t, plan, src)
				} else {
					dir = begin(t, plan, stockedSource{&stocked{fixture: src}})
				}
				var all sync.WaitGroup
				limit := make(chan struct{}, 3)
				for _, task := range tasks {
					all.Go(func() {
						limit <- struct{}{}
						defer func() { <-limit }()
						report, err := runTask(t, dir, task, src, row.together, WriteOptions{Workers: 2})
						if err != nil || report.Manifest != nil || report.Task != task {
							t.Errorf("seed %d: task %v: %+v, %v", seed, task, report, err)
						}
					})
				}
				all.Wait()
				s, err := ReadStatus(dir)
				if err != nil || s.Done != len(plan.Shards) || len(s.Running)+len(s.Missing) > 0 || s.Complete || s.DoneSize != s.Bytes {
					t.Errorf("seed %d: status %+v, %v", seed, s, err)
				}
				report, err := finishDir(t, dir, FinishOptions{Verify: seed%2 == 0})
				if err != nil || report.Manifest == nil || !report.Manifest.Verified || report.Verified != (seed%2 == 0) || report.VerifiedAt.IsZero() != report.Verified {
					t.Fatalf("seed %d: finish: %+v, %v", seed, report, err)
				}
				if got := files(t, dir); !maps.Equal(got, want) {
					t.Errorf("seed %d: %d tasks wrote other files than one process", seed, n)
				}
				for _, name := range []string{journalsDir, runningDir, tmpDir} {
					if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
						t.Errorf("seed %d: %s is left", seed, name)
					}
				}
			}
		})
	}
}

// stockedSource lists the parts of a stock.
type stockedSource struct{ *stocked }

func (s stockedSource) Parts() []converters.Part { return s.stocked.Parts() }

// Slices are all shards once, in order, and even: none has more bytes than its share and the
// largest shard.
func TestSlices(t *testing.T) {
	t.Parallel()
	src := newFixture(82, 5, 80, 3000)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 37}})
	dir := begin(t, plan, src)
	out, err := OpenShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_, total := plan.Totals()
	largest := int64(0)
	for _, s := range plan.Shards {
		largest = max(largest, s.Bytes)
	}
	for _, n := range []int{1, 2, 3, 4, 36, 37, 38, 100} {
		next := 0
		for k := range n {
			s, err := out.Slice(Task{k, n}, false)
			if err != nil {
				t.Fatal(err)
			}
			_, bytes := s.Plan.Totals()
			if s.From != next || bytes > total/int64(n)+largest {
				t.Errorf("task %d/%d begins at shard %d, not %d, with %d of %d bytes", k, n, s.From, next, bytes, total)
			}
			next += len(s.Plan.Shards)
		}
		if next != len(plan.Shards) {
			t.Errorf("%d tasks have %d shards", n, next)
		}
	}
	for _, bad := range []Task{{1, 1}, {-1, 3}, {5, 0}, {0, -1}} {
		if _, err := out.Slice(bad, false); !errors.Is(err, ErrTask) {
			t.Errorf("%d/%d: %v", bad.K, bad.N, err)
		}
	}
}

// Finish says which shards are missing, and changes nothing.
func TestFinishMissing(t *testing.T) {
	t.Parallel()
	src := newFixture(84, 4, 30, 900)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 8}})
	for _, row := range []struct {
		name   string
		harm   func(t *testing.T, dir string)
		verify bool
		want   string
	}{
		{"a task did not run", nil, false, "PART_00004.ffr, PART_00005.ffr"},
		{"a shard is gone", func(t *testing.T, dir string) { remove(t, dir, "PART_00001.ffr") }, false, "PART_00001.ffr, PART_00004.ffr, PART_00005.ffr"},
		{"a shard is gone, verified", func(t *testing.T, dir string) { remove(t, dir, "PART_00001.ffr") }, true, "PART_00001.ffr, PART_00004.ffr, PART_00005.ffr"},
		{"a header is damaged", func(t *testing.T, dir string) { flip(t, dir, "PART_00000.ffr", 20) }, false, "PART_00000.ffr, PART_00004.ffr, PART_00005.ffr"},
		{"an index is gone", func(t *testing.T, dir string) { remove(t, dir, "index/PART_00007.arrow") }, false, "PART_00004.ffr, PART_00005.ffr, PART_00007.ffr"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, plan, stockedSource{&stocked{fixture: src}})
			for _, k := range []int{3, 0, 1} {
				if _, err := runTask(t, dir, Task{k, 4}, src, false, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if row.harm != nil {
				row.harm(t, dir)
			}
			before := files(t, dir)
			_, err := finishDir(t, dir, FinishOptions{Verify: row.verify})
			missing, ok := errors.AsType[*Missing](err)
			if !ok || !errors.Is(err, ErrMissing) || strings.Join(missing.Shards, ", ") != row.want || missing.Of != 8 {
				t.Fatalf("finish: %v", err)
			}
			if !maps.Equal(files(t, dir), before) {
				t.Error("finish has changed something")
			}
			for k := range 4 { // whatever is missing, its task makes it
				if _, err := runTask(t, dir, Task{k, 4}, src, false, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := finishDir(t, dir, FinishOptions{Verify: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

// What cannot be looked at is an error of its own, not a missing shard: to write it again would
// not help.
func TestFinishUnknown(t *testing.T) {
	t.Parallel()
	src := newFixture(84, 4, 30, 900)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 4}})
	const name = "PART_00001.ffr"
	for _, row := range []struct {
		name string
		harm func(path string) error
		want error
	}{
		{"a link to itself", func(path string) error { return os.Symlink(name, path) }, converters.ErrUnsupported},
		{"a link to the shard", func(path string) error { return os.Symlink(name+".saved", path) }, converters.ErrUnsupported},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }, converters.ErrUnsupported},
		{"a directory with the shard in it", func(path string) error {
			return errors.Join(os.Mkdir(path, 0o755), os.Rename(path+".saved", filepath.Join(path, name)))
		}, converters.ErrUnsupported},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, plan, src)
			if _, err := runTask(t, dir, Task{}, src, true, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := errors.Join(os.Rename(path, path+".saved"), row.harm(path)); err != nil {
				t.Fatal(err)
			}
			if _, err := finishDir(t, dir, FinishOptions{}); !errors.Is(err, row.want) || errors.Is(err, ErrMissing) {
				t.Errorf("finish: %v", err)
			}
			if _, err := runTask(t, dir, Task{}, src, true, WriteOptions{}); !errors.Is(err, row.want) {
				t.Errorf("run: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, ManifestName)); !errors.Is(err, os.ErrNotExist) {
				t.Error("there is a manifest")
			}
		})
	}
}

// A task refuses sources that are not those of the plan.
func TestTaskRefusesChangedSources(t *testing.T) {
	t.Parallel()
	src := newFixture(85, 4, 30, 900)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 4}})
	dir := begin(t, plan, stockedSource{&stocked{fixture: src}})
	other := newFixture(86, 4, 30, 900)
	if _, err := runTask(t, dir, Task{1, 4}, other, false, WriteOptions{}); !errors.Is(err, converters.ErrChanged) {
		t.Errorf("other sources: %v", err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*.ffr")); err != nil || len(names) > 0 {
		t.Errorf("%q have their names, %v", names, err)
	}
}

// What lies under the name of a shard already is kept where it is equal, replaced where it is
// damaged, and refused where it is sound and other.
func TestNameIsTaken(t *testing.T) {
	t.Parallel()
	src, other := newFixture(87, 2, 30, 900), newFixture(88, 2, 30, 900)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 2}})
	reference := dataset(src, plan)(t)
	others := dataset(other, newPlan(t, other, encode.Options{}, Options{Sizes: Sizes{Shards: 2}}))(t)
	want := files(t, reference)
	const name = "PART_00001.ffr"
	copyTo := func(t *testing.T, dir, from string, damage func([]byte) []byte) {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), damage(data), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name   string
		from   string
		damage func([]byte) []byte
		others int
		want   error
	}{
		{"equal", reference, func(b []byte) []byte { return b }, 1, nil},
		{"a sample damaged", reference, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, 0, nil},
		{"its header damaged", reference, func(b []byte) []byte { b[20] ^= 1; return b }, 0, nil},
		{"cut", reference, func(b []byte) []byte { return b[:len(b)-1] }, 0, nil},
		{"empty", reference, func(b []byte) []byte { return nil }, 0, nil},
		{"another one", others, func(b []byte) []byte { return b }, 0, converters.ErrChanged},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, plan, stockedSource{&stocked{fixture: src}})
			copyTo(t, dir, row.from, row.damage)
			before := files(t, dir)
			report, err := runTask(t, dir, Task{1, 2}, src, false, WriteOptions{})
			if !errors.Is(err, row.want) {
				t.Fatalf("error %v, want %v", err, row.want)
			}
			after := files(t, dir)
			if row.want != nil {
				if after[name] != before[name] {
					t.Error("it was replaced")
				}
				return
			}
			if report.Others != row.others || after[name] != want[name] {
				t.Errorf("%+v; it is as it should be: %v", report, after[name] == want[name])
			}
		})
	}
}

// A finish that comes too early leaves all as it is: where locks bind the processes of one
// machine alone, tasks of another may be at work.
func TestFinishTooEarlyChangesNothing(t *testing.T) {
	t.Parallel()
	src := newFixture(81, 7, 30, 900)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 9}})
	dir := begin(t, plan, src)
	if _, err := runTask(t, dir, Task{1, 3}, src, true, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	mine := []string{filepath.Join(dir, tmpDir, "aaaaaaaaaaaaa", "PART_00000.ffr.tmp"), filepath.Join(dir, runningDir, "PART_00000")}
	for _, name := range mine {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("a task of another machine"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree := func() map[string]string {
		all := make(map[string]string)
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				data, failed := os.ReadFile(filepath.Join(dir, name))
				all[name], err = string(data), failed
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := tree()
	for _, verify := range []bool{false, true} {
		if _, err := finishDir(t, dir, FinishOptions{Verify: verify}); !errors.Is(err, ErrMissing) {
			t.Errorf("verify %v: %v", verify, err)
		}
	}
	if after := tree(); !maps.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// Shards that tasks did not re-read are verified where Finish re-reads them, and the manifest says so.
func TestFinishVerifies(t *testing.T) {
	t.Parallel()
	src := newFixture(85, 2, 30, 900)
	dir := begin(t, newPlan(t, src, encode.Options{}, fourShards), stockedSource{&stocked{fixture: src}})
	for k := range 2 {
		if _, err := runTask(t, dir, Task{k, 2}, src, false, WriteOptions{NoVerify: true}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := OpenOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	report, err := Finish(t.Context(), out, FinishOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if m := report.Manifest; !m.Verified || m.VerifiedFrom == "" || !report.Verified || m.VerifiedFrom != report.From {
		t.Errorf("manifest %v from %q, report %v from %q", m.Verified, m.VerifiedFrom, report.Verified, report.From)
	}
}
