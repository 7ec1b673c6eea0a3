package write_test

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

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Tasks in any order, some of them twice and at once, make what one process makes.
func TestTasks(t *testing.T) {
	t.Parallel()
	need.Time(t, "many tasks")
	for _, row := range []struct {
		name     string
		plan     func(t *testing.T, src *memsource.Source) *plan.Plan
		together bool
	}{
		{"cut at samples", func(t *testing.T, src *memsource.Source) *plan.Plan {
			return shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 9}})
		}, false},
		{"opened together", func(t *testing.T, src *memsource.Source) *plan.Plan {
			return shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 9}})
		}, true},
		{"shuffled", func(t *testing.T, src *memsource.Source) *plan.Plan {
			return shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 9}, Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 3}}})
		}, true},
		{"shuffled, parts as needed", func(t *testing.T, src *memsource.Source) *plan.Plan {
			return shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 9}, Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 3}}})
		}, false},
		{"part-aligned", func(t *testing.T, src *memsource.Source) *plan.Plan {
			return shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 5}})
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			src := memsource.New(81, 7, 30, 900)
			p := row.plan(t, src)
			reference := t.TempDir()
			var err error
			if p.Whole {
				_, err = shardtest.WriteStock(t, &shardtest.Stocked{Source: src}, p, reference, write.Options{})
			} else {
				_, err = shardtest.Write(t, src, p, reference, write.Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			want := shardtest.Files(t, reference)
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, 1))
				n := 1 + r.IntN(12)
				var tasks []plan.Task
				for k := range n {
					for range 1 + r.IntN(2) {
						tasks = append(tasks, plan.Task{K: k, N: n})
					}
				}
				r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
				var dir string
				if row.together {
					dir = shardtest.Begin(t, p, src)
				} else {
					dir = shardtest.Begin(t, p, stockedSource{&shardtest.Stocked{Source: src}})
				}
				var all sync.WaitGroup
				limit := make(chan struct{}, 3)
				for _, task := range tasks {
					all.Go(func() {
						limit <- struct{}{}
						defer func() { <-limit }()
						report, err := shardtest.RunTask(t, dir, task, src, row.together, write.Options{Workers: 2})
						if err != nil || report.Manifest != nil || report.Task != task {
							t.Errorf("seed %d: task %v: %+v, %v", seed, task, report, err)
						}
					})
				}
				all.Wait()
				s, err := shardtest.Status(dir)
				if err != nil || s.Done != len(p.Shards) || len(s.Running)+len(s.Missing) > 0 || s.Complete || s.DoneSize != s.Bytes {
					t.Errorf("seed %d: status %+v, %v", seed, s, err)
				}
				report, err := shardtest.Finish(t, dir, write.Options{Verify: seed%2 == 0})
				if err != nil || report.Manifest == nil || !report.Manifest.Verified || report.Verified != (seed%2 == 0) || report.VerifiedAt.IsZero() != report.Verified {
					t.Fatalf("seed %d: finish: %+v, %v", seed, report, err)
				}
				if got := shardtest.Files(t, dir); !maps.Equal(got, want) {
					t.Errorf("seed %d: %d tasks wrote other files than one process", seed, n)
				}
				for _, name := range []string{dataset.JournalsDir, dataset.RunningDir, dataset.TmpDir} {
					if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
						t.Errorf("seed %d: %s is left", seed, name)
					}
				}
			}
		})
	}
}

// stockedSource lists the parts of a stock.
type stockedSource struct{ *shardtest.Stocked }

func (s stockedSource) Parts() []converters.Part { return s.Stocked.Parts() }

// Slices are all shards once, in order, and even: none has more bytes than its share and the
// largest shard.
func TestSlices(t *testing.T) {
	t.Parallel()
	src := memsource.New(82, 5, 80, 3000)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 37}})
	dir := shardtest.Begin(t, p, src)
	out, err := dataset.OpenTask(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_, total := p.Totals()
	largest := int64(0)
	for _, s := range p.Shards {
		largest = max(largest, s.Bytes)
	}
	for _, n := range []int{1, 2, 3, 4, 36, 37, 38, 100} {
		next := 0
		for k := range n {
			s, err := out.Slice(plan.Task{K: k, N: n}, false)
			if err != nil {
				t.Fatal(err)
			}
			_, bytes := s.Plan.Totals()
			if s.From != next || bytes > total/int64(n)+largest {
				t.Errorf("task %d/%d begins at shard %d, not %d, with %d of %d bytes", k, n, s.From, next, bytes, total)
			}
			next += len(s.Plan.Shards)
		}
		if next != len(p.Shards) {
			t.Errorf("%d tasks have %d shards", n, next)
		}
	}
	for _, bad := range []plan.Task{{K: 1, N: 1}, {K: -1, N: 3}, {K: 5, N: 0}, {K: 0, N: -1}} {
		if _, err := out.Slice(bad, false); !errors.Is(err, plan.ErrTask) {
			t.Errorf("%d/%d: %v", bad.K, bad.N, err)
		}
	}
}

// Finish says which shards are missing, and changes nothing.
func TestFinishMissing(t *testing.T) {
	t.Parallel()
	need.Time(t, "many tasks")
	src := memsource.New(84, 4, 30, 900)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 8}})
	for _, row := range []struct {
		name   string
		harm   func(t *testing.T, dir string)
		verify bool
		want   string
	}{
		{"a task did not run", nil, false, "PART_00004.ffr, PART_00005.ffr"},
		{"a shard is gone", func(t *testing.T, dir string) { shardtest.Remove(t, dir, "PART_00001.ffr") }, false, "PART_00001.ffr, PART_00004.ffr, PART_00005.ffr"},
		{"a shard is gone, verified", func(t *testing.T, dir string) { shardtest.Remove(t, dir, "PART_00001.ffr") }, true, "PART_00001.ffr, PART_00004.ffr, PART_00005.ffr"},
		{"a header is damaged", func(t *testing.T, dir string) { shardtest.Flip(t, dir, "PART_00000.ffr", 20) }, false, "PART_00000.ffr, PART_00004.ffr, PART_00005.ffr"},
		{"an index is gone", func(t *testing.T, dir string) { shardtest.Remove(t, dir, "index/PART_00007.arrow") }, false, "PART_00004.ffr, PART_00005.ffr, PART_00007.ffr"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := shardtest.Begin(t, p, stockedSource{&shardtest.Stocked{Source: src}})
			for _, k := range []int{3, 0, 1} {
				if _, err := shardtest.RunTask(t, dir, plan.Task{K: k, N: 4}, src, false, write.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if row.harm != nil {
				row.harm(t, dir)
			}
			before := shardtest.Files(t, dir)
			_, err := shardtest.Finish(t, dir, write.Options{Verify: row.verify})
			missing, ok := errors.AsType[*dataset.Missing](err)
			if !ok || !errors.Is(err, dataset.ErrMissing) || strings.Join(missing.Shards, ", ") != row.want || missing.Of != 8 {
				t.Fatalf("finish: %v", err)
			}
			if !maps.Equal(shardtest.Files(t, dir), before) {
				t.Error("finish has changed something")
			}
			for k := range 4 { // whatever is missing, its task makes it
				if _, err := shardtest.RunTask(t, dir, plan.Task{K: k, N: 4}, src, false, write.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := shardtest.Finish(t, dir, write.Options{Verify: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

// What cannot be looked at is an error of its own, not a missing shard: to write it again would
// not help.
func TestFinishUnknown(t *testing.T) {
	t.Parallel()
	src := memsource.New(84, 4, 30, 900)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 4}})
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
			dir := shardtest.Begin(t, p, src)
			if _, err := shardtest.RunTask(t, dir, plan.Task{}, src, true, write.Options{}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := errors.Join(os.Rename(path, path+".saved"), row.harm(path)); err != nil {
				t.Fatal(err)
			}
			if _, err := shardtest.Finish(t, dir, write.Options{}); !errors.Is(err, row.want) || errors.Is(err, dataset.ErrMissing) {
				t.Errorf("finish: %v", err)
			}
			if _, err := shardtest.RunTask(t, dir, plan.Task{}, src, true, write.Options{}); !errors.Is(err, row.want) {
				t.Errorf("run: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, dataset.ManifestName)); !errors.Is(err, os.ErrNotExist) {
				t.Error("there is a manifest")
			}
		})
	}
}

// A task refuses sources that are not those of the plan.
func TestTaskRefusesChangedSources(t *testing.T) {
	t.Parallel()
	src := memsource.New(85, 4, 30, 900)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 4}})
	dir := shardtest.Begin(t, p, stockedSource{&shardtest.Stocked{Source: src}})
	other := memsource.New(86, 4, 30, 900)
	if _, err := shardtest.RunTask(t, dir, plan.Task{K: 1, N: 4}, other, false, write.Options{}); !errors.Is(err, converters.ErrChanged) {
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
	src, other := memsource.New(87, 2, 30, 900), memsource.New(88, 2, 30, 900)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 2}})
	reference := shardtest.Dataset(src, p)(t)
	others := shardtest.Dataset(other, shardtest.NewPlan(t, other, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 2}}))(t)
	want := shardtest.Files(t, reference)
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
			dir := shardtest.Begin(t, p, stockedSource{&shardtest.Stocked{Source: src}})
			copyTo(t, dir, row.from, row.damage)
			before := shardtest.Files(t, dir)
			report, err := shardtest.RunTask(t, dir, plan.Task{K: 1, N: 2}, src, false, write.Options{})
			if !errors.Is(err, row.want) {
				t.Fatalf("error %v, want %v", err, row.want)
			}
			after := shardtest.Files(t, dir)
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
	src := memsource.New(81, 7, 30, 900)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 9}})
	dir := shardtest.Begin(t, p, src)
	if _, err := shardtest.RunTask(t, dir, plan.Task{K: 1, N: 3}, src, true, write.Options{}); err != nil {
		t.Fatal(err)
	}
	mine := []string{filepath.Join(dir, dataset.TmpDir, "aaaaaaaaaaaaa", "PART_00000.ffr.tmp"), filepath.Join(dir, dataset.RunningDir, "PART_00000")}
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
		if _, err := shardtest.Finish(t, dir, write.Options{Verify: verify}); !errors.Is(err, dataset.ErrMissing) {
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
	src := memsource.New(85, 2, 30, 900)
	dir := shardtest.Begin(t, shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards), stockedSource{&shardtest.Stocked{Source: src}})
	for k := range 2 {
		if _, err := shardtest.RunTask(t, dir, plan.Task{K: k, N: 2}, src, false, write.Options{NoVerify: true}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	report, err := write.Finish(t.Context(), out, write.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if m := report.Manifest; !m.Verified || m.VerifiedFrom == "" || !report.Verified || m.VerifiedFrom != report.From {
		t.Errorf("manifest %v from %q, report %v from %q", m.Verified, m.VerifiedFrom, report.Verified, report.From)
	}
}
