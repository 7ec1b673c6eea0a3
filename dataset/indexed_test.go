package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// IndexedFixture is a source and what it was found as. A third of its samples are left out of its
// second encoding.
func IndexedFixture(t testing.TB, seed uint64, parts, samples int) (*memsource.Source, []converters.Part, plan.Encodings) {
	t.Helper()
	src := memsource.New(seed, parts, samples, 300)
	var found []converters.Part
	var enc plan.Encodings
	for i, p := range src.Parts() {
		found = append(found, converters.Part{Name: p.Name, Size: p.Size + 7, Copy: &converters.Copy{Mark: files.PinOf("etag", strconv.Itoa(i))}}) // as if they were compressed
		enc.Of = append(enc.Of, i%2)
	}
	for _, opts := range []encode.Options{{}, {Fields: "cls", Missing: encode.MissingSkip}} {
		spec, err := encode.Parse(opts)
		if err != nil {
			t.Fatal(err)
		}
		enc.Specs = append(enc.Specs, spec)
	}
	return src, found, enc
}

var IndexedOptions = plan.Options{Recipe: plan.Recipe{Source: plan.SourceSpec{Format: "memory", Options: map[string]string{"a": "b"}}}}

// numbered returns indexes by the numbers of their parts.
func numbered(parts []int, index []plan.PartIndex) map[int]plan.PartIndex {
	all := make(map[int]plan.PartIndex)
	for i, number := range parts {
		all[number] = index[i]
	}
	return all
}

// from returns n numbers from first on.
func from(first, n int) (all []int) {
	for i := range n {
		all = append(all, first+i)
	}
	return all
}

// save indexes the parts of each task and saves them.
func save(t testing.TB, o *Task, src *memsource.Source, found []converters.Part, enc plan.Encodings, tasks ...plan.Task) {
	t.Helper()
	for _, task := range tasks {
		sizes := make([]int64, len(found))
		for i := range found {
			sizes[i] = found[i].Size
		}
		first, n := task.Slice(sizes)
		some := from(first, n)
		index, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Only: some, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		x, err := o.Indexed(IndexedOptions, found)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Save(task, converters.Description{}, enc, numbered(some, index)); err != nil {
			t.Fatal(err)
		}
	}
}

// What tasks have saved is what an index has, and nobody indexes it again.
func TestIndexed(t *testing.T) {
	t.Parallel()
	src, found, enc := IndexedFixture(t, 3, 9, 200)
	whole, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	o := openShared(t, t.TempDir())
	save(t, o, src, found, enc, plan.Task{K: 2, N: 3}, plan.Task{K: 0, N: 3})
	x, err := o.Indexed(IndexedOptions, found)
	if err != nil || len(x.Unused) > 0 || x.Len() != 6 {
		t.Fatalf("%d parts, %v, %v", x.Len(), x.Unused, err)
	}
	if dropped, err := x.Keep(converters.Description{}, enc); dropped > 0 || err != nil {
		t.Fatal(dropped, err)
	}
	for i := range whole {
		if x.Has(i) != (i/3 != 1) {
			t.Errorf("part %d is there: %v", i, x.Has(i))
		} else if x.Has(i) && !reflect.DeepEqual(x.parts[i].index, whole[i]) {
			t.Errorf("part %d: %+v, want %+v", i, x.parts[i].index.Part, whole[i].Part)
		}
	}
	src.IndexErr = func(part int) error {
		if x.Has(part) {
			return fmt.Errorf("part %d is indexed again", part)
		}
		return nil
	}
	all, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Known: x.Get, Workers: 2})
	if err != nil || !reflect.DeepEqual(all, whole) {
		t.Fatal(err)
	}
	if by, err := o.IndexedBy(plan.Task{K: 0, N: 3}, IndexedOptions, found); err != nil || by.Len() != 3 || !by.Has(0) || by.Has(8) {
		t.Error(by, err)
	}
	if by, err := o.IndexedBy(plan.Task{K: 1, N: 3}, IndexedOptions, found); err != nil || by.Len() != 0 {
		t.Error(by, err)
	}
	if err := o.DropIndexed(); err != nil {
		t.Fatal(err)
	}
	if x, err := o.Indexed(IndexedOptions, found); err != nil || x.Len() != 0 || len(x.Unused) > 0 {
		t.Error(x, err)
	}
}

// A part that is not what it was is not there, nor is anything of other sources or options.
func TestIndexedIsOfTheSame(t *testing.T) {
	t.Parallel()
	src, found, enc := IndexedFixture(t, 4, 4, 30)
	o := openShared(t, t.TempDir())
	save(t, o, src, found, enc, plan.Task{}) // 0 of 1
	other := func(change func([]converters.Part)) []converters.Part {
		all := append([]converters.Part(nil), found...)
		change(all)
		return all
	}
	opts := IndexedOptions
	for _, row := range []struct {
		name   string
		opts   plan.Options
		found  []converters.Part
		want   int
		unused string
	}{
		{"the same", opts, found, 4, ""},
		{"sizes of shards", plan.Options{Recipe: plan.Recipe{Source: opts.Source, Shuffle: &plan.Shuffle{Seed: 1}}, Sizes: plan.Sizes{Shards: 7}}, found, 4, ""},
		{"modified", opts, other(func(f []converters.Part) { f[1].Copy = &converters.Copy{Mark: files.PinOf("etag", "other")} }), 3, ""},
		{"another size", opts, other(func(f []converters.Part) { f[0].Size++; f[2].Size-- }), 2, ""},
		{"nobody knows", opts, other(func(f []converters.Part) { f[1].Copy = &converters.Copy{} }), 3, ""},
		{"another name", opts, other(func(f []converters.Part) { f[1].Name = "x" }), 0, "0-of-1: it is of other sources or options"},
		{"another order", opts, other(func(f []converters.Part) { f[0], f[1] = f[1], f[0] }), 0, "other sources"},
		{"fewer", opts, found[:3], 0, "other sources"},
		{"another option", plan.Options{Recipe: plan.Recipe{Source: plan.SourceSpec{Format: "memory"}}}, found, 0, "other sources or options"},
		{"another format", plan.Options{Recipe: plan.Recipe{Source: plan.SourceSpec{Format: "tar", Options: opts.Source.Options}}}, found, 0, "options"},
		{"other fields", plan.Options{Recipe: plan.Recipe{Source: opts.Source, Encode: encode.Options{Fields: "a"}}}, found, 0, "options"},
	} {
		t.Run(row.name, func(t *testing.T) {
			x, err := o.Indexed(row.opts, row.found)
			if err != nil || x.Len() != row.want || (len(x.Unused) > 0) != (row.unused != "") || len(x.Unused) > 0 && !strings.Contains(x.Unused[0].Error(), row.unused) {
				t.Errorf("%d parts, unused %v, %v", x.Len(), x.Unused, err)
			}
		})
	}
	for name, row := range map[string]struct {
		says converters.Description
		enc  func(*plan.Encodings)
		want int
	}{
		"the same":               {converters.Description{}, func(*plan.Encodings) {}, 0},
		"other columns":          {converters.Description{Columns: []converters.ColumnType{{Name: "a", DType: "int64"}}}, func(*plan.Encodings) {}, 4},
		"another encoding":       {converters.Description{}, func(e *plan.Encodings) { e.Specs = []*encode.Spec{e.Specs[1], e.Specs[0]} }, 4},
		"of one part":            {converters.Description{}, func(e *plan.Encodings) { e.Of = []int{0, 1, 1, 1} }, 4},
		"one encoding for all":   {converters.Description{}, func(e *plan.Encodings) { e.Specs, e.Of = e.Specs[:1], nil }, 4},
		"what the source offers": {converters.Description{Encoding: "raw"}, func(*plan.Encodings) {}, 0}, // the encoding itself counts
	} {
		x, err := o.Indexed(opts, found)
		if err != nil {
			t.Fatal(err)
		}
		now := enc
		row.enc(&now)
		if dropped, err := x.Keep(row.says, now); err != nil || dropped != row.want || x.Len() != 4-dropped {
			t.Errorf("%s: %d dropped, %d left, %v", name, dropped, x.Len(), err)
		}
	}
	var none *Indexed
	if dropped, err := none.Keep(converters.Description{}, enc); dropped > 0 || err != nil || none.Has(0) {
		t.Error("nothing has something")
	}
}

// What is no index file is left aside, whatever it is.
func TestIndexedLeavesAside(t *testing.T) {
	t.Parallel()
	src, found, enc := IndexedFixture(t, 6, 2, 5)
	dir := t.TempDir()
	o := openShared(t, dir)
	save(t, o, src, found, enc, plan.Task{K: 0, N: 2})
	at := filepath.Join(dir, IndexedDir)
	for _, err := range []error{
		os.WriteFile(filepath.Join(at, "1-of-2"), nil, 0o644),
		os.WriteFile(filepath.Join(at, "1-of-2.abcdefghijklm"), []byte("unfinished"), 0o644),
		os.Mkdir(filepath.Join(at, "3-of-4"), 0o755),
		os.Symlink("/etc/passwd", filepath.Join(at, "5-of-6")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	x, err := o.Indexed(IndexedOptions, found)
	if err != nil || x.Len() != 1 || len(x.Unused) != 3 || !strings.HasPrefix(x.Unused[0].Error(), filepath.Join(at, "1-of-2")+": ") {
		t.Errorf("%d parts, unused %v, %v", x.Len(), x.Unused, err)
	}
}

// Tasks save at once, the same one twice, too; and nobody has the directory alone meanwhile.
func TestSaveIndexedAtOnce(t *testing.T) {
	t.Parallel()
	src, found, enc := IndexedFixture(t, 7, 12, 40)
	dir := t.TempDir()
	var tasks sync.WaitGroup
	ready := openShared(t, dir)
	for i := range 12 {
		tasks.Go(func() {
			o, err := OpenTask(dir)
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				save(t, o, src, found, enc, plan.Task{K: i % 6, N: 6})
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := Open(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("it was had alone: %v", err)
	}
	tasks.Wait()
	x, err := ready.Indexed(IndexedOptions, found)
	if err != nil || x.Len() != 12 || len(x.Unused) > 0 {
		t.Errorf("%d parts, unused %v, %v", x.Len(), x.Unused, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, IndexedDir))
	if err != nil || len(left) != 6 {
		t.Error(left, err)
	}
}

// An Index of some parts can be stopped, and returns the errors of all of them.
func TestIndexSome(t *testing.T) {
	t.Parallel()
	src, _, enc := IndexedFixture(t, 9, 4, 10)
	bad := errors.New("bad part")
	src.IndexErr = func(part int) error {
		if part == 1 {
			return bad
		}
		return nil
	}
	index, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Only: []int{3, 0}, Workers: 2})
	if err != nil || len(index) != 2 || index[0].Name != src.Parts()[3].Name || index[0].Encode != 1 || index[1].Name != src.Parts()[0].Name {
		t.Errorf("%+v, %v", index, err)
	}
	if _, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Only: []int{1, 2}, Workers: 2}); !errors.Is(err, bad) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: enc, Only: []int{0}, Workers: 2}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
