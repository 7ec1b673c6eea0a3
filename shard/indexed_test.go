package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// indexedFixture is a source and what it was found as. A third of its samples are left out of its
// second encoding.
func indexedFixture(t testing.TB, seed uint64, parts, samples int) (*fixture, []Found, Encodings) {
	t.Helper()
	src := newFixture(seed, parts, samples, 300)
	var found []Found
	var enc Encodings
	for i, p := range src.Parts() {
		found = append(found, Found{Name: p.Name, Size: p.Size + 7, Mark: int64(1000 + i)}) // as if they were compressed
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

var indexedOptions = Options{Source: SourceSpec{Format: "memory", Options: map[string]string{"a": "b"}}}

// save indexes the parts of each task and saves them.
func save(t testing.TB, o *Output, src *fixture, found []Found, enc Encodings, tasks ...Task) {
	t.Helper()
	for _, task := range tasks {
		sizes := make([]int64, len(found))
		for i := range found {
			sizes[i] = found[i].Size
		}
		first, n := task.Slice(sizes)
		some := everyPart(src)[first : first+n]
		index, err := IndexSome(t.Context(), src, enc, some, 2, nil)
		if err == nil {
			err = o.SaveIndexed(task, indexedOptions, found, converters.Description{}, enc, some, index)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func openShared(t testing.TB, dir string) *Output {
	t.Helper()
	o, err := OpenShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// What tasks have saved is what an index has, and nobody indexes it again.
func TestIndexed(t *testing.T) {
	t.Parallel()
	src, found, enc := indexedFixture(t, 3, 9, 200)
	whole, err := IndexEach(t.Context(), src, enc, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := openShared(t, t.TempDir())
	save(t, o, src, found, enc, Task{2, 3}, Task{0, 3})
	x, err := o.Indexed(indexedOptions, found)
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
	src.index = func(part int) error {
		if x.Has(part) {
			return fmt.Errorf("part %d is indexed again", part)
		}
		return nil
	}
	all, err := IndexRest(t.Context(), src, enc, everyPart(src), x, 2, nil)
	if err != nil || !reflect.DeepEqual(all, whole) {
		t.Fatal(err)
	}
	if by, err := o.IndexedBy(Task{0, 3}, indexedOptions, found); err != nil || by.Len() != 3 || !by.Has(0) || by.Has(8) {
		t.Error(by, err)
	}
	if by, err := o.IndexedBy(Task{1, 3}, indexedOptions, found); err != nil || by.Len() != 0 {
		t.Error(by, err)
	}
	if err := o.DropIndexed(); err != nil {
		t.Fatal(err)
	}
	if x, err := o.Indexed(indexedOptions, found); err != nil || x.Len() != 0 || len(x.Unused) > 0 {
		t.Error(x, err)
	}
}

// A part that is not what it was is not there, nor is anything of other sources or options.
func TestIndexedIsOfTheSame(t *testing.T) {
	t.Parallel()
	src, found, enc := indexedFixture(t, 4, 4, 30)
	o := openShared(t, t.TempDir())
	save(t, o, src, found, enc, Task{}) // 0 of 1
	other := func(change func([]Found)) []Found {
		all := append([]Found(nil), found...)
		change(all)
		return all
	}
	opts := indexedOptions
	for _, row := range []struct {
		name   string
		opts   Options
		found  []Found
		want   int
		unused string
	}{
		{"the same", opts, found, 4, ""},
		{"sizes of shards", Options{Source: opts.Source, Sizes: Sizes{Shards: 7}, Shuffle: &Shuffle{1}}, found, 4, ""},
		{"modified", opts, other(func(f []Found) { f[1].Mark++ }), 3, ""},
		{"another size", opts, other(func(f []Found) { f[0].Size++; f[2].Size-- }), 2, ""},
		{"nobody knows", opts, other(func(f []Found) { f[1].Mark = 0 }), 3, ""},
		{"another name", opts, other(func(f []Found) { f[1].Name = "x" }), 0, "0-of-1: it is of other sources or options"},
		{"another order", opts, other(func(f []Found) { f[0], f[1] = f[1], f[0] }), 0, "other sources"},
		{"fewer", opts, found[:3], 0, "other sources"},
		{"another option", Options{Source: SourceSpec{Format: "memory"}}, found, 0, "other sources or options"},
		{"another format", Options{Source: SourceSpec{Format: "tar", Options: opts.Source.Options}}, found, 0, "options"},
		{"other fields", Options{Source: opts.Source, Encode: encode.Options{Fields: "a"}}, found, 0, "options"},
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
		enc  func(*Encodings)
		want int
	}{
		"the same":               {converters.Description{}, func(*Encodings) {}, 0},
		"other columns":          {converters.Description{Columns: []converters.ColumnType{{Name: "a", DType: "int64"}}}, func(*Encodings) {}, 4},
		"another encoding":       {converters.Description{}, func(e *Encodings) { e.Specs = []*encode.Spec{e.Specs[1], e.Specs[0]} }, 4},
		"of one part":            {converters.Description{}, func(e *Encodings) { e.Of = []int{0, 1, 1, 1} }, 4},
		"one encoding for all":   {converters.Description{}, func(e *Encodings) { e.Specs, e.Of = e.Specs[:1], nil }, 4},
		"what the source offers": {converters.Description{Encoding: "raw"}, func(*Encodings) {}, 0}, // the encoding itself counts
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

// indexedFile is the bytes of an index file of all parts, and what they were found as.
func indexedFile(t testing.TB, seed uint64, parts, samples int) ([]byte, []Found) {
	t.Helper()
	src, found, enc := indexedFixture(t, seed, parts, samples)
	index, err := IndexEach(t.Context(), src, enc, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := writeIndexed(&file, indexedHead{Asked: "x", Shown: "y"}, found, everyPart(src), index); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), found
}

// readBack reads an index file as far as it is sound.
func readBack(data []byte, found []Found) (map[int]PartIndex, error) {
	got := make(map[int]PartIndex)
	err := newIndexedReader(bytes.NewReader(data), "x", found).read(func(i int, _ string, idx PartIndex) { got[i] = idx })
	return got, err
}

// Of a file that is cut anywhere, or has any byte changed, what is read is what was written; and
// it is said that something is wrong.
func TestIndexedDamage(t *testing.T) {
	t.Parallel()
	data, found := indexedFile(t, 5, 3, 20)
	want, err := readBack(data, found)
	if err != nil || len(want) != 3 {
		t.Fatal(len(want), err)
	}
	check := func(what string, data []byte) {
		got, err := readBack(data, found)
		if err == nil || strings.Contains(err.Error(), "\n") || len(got) == 3 {
			t.Fatalf("%s: %d parts, %v", what, len(got), err)
		}
		for i, p := range got {
			if !reflect.DeepEqual(p, want[i]) {
				t.Fatalf("%s: part %d: %+v, want %+v", what, i, p.Part, want[i].Part)
			}
		}
	}
	for cut := range len(data) - 1 { // the last newline does not count
		check(fmt.Sprint("cut at ", cut), data[:cut])
	}
	for at := range data[:len(data)-1] {
		data[at] ^= 1 << (at % 8)
		check(fmt.Sprint("changed at ", at), data)
		data[at] ^= 1 << (at % 8)
	}
}

// An index with sizes that are not so, under right CRCs, gives no dataset: samples have those that
// they were planned with, or nothing is finished.
func TestIndexedLies(t *testing.T) {
	t.Parallel()
	src, found, _ := indexedFixture(t, 6, 2, 40)
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	enc := Encodings{Specs: []*encode.Spec{spec}}
	index, err := IndexEach(t.Context(), src, enc, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(i int, cost int64) int64{
		"larger":           func(i int, cost int64) int64 { return cost + int64(i%3) },
		"in another order": func(i int, _ int64) int64 { return index[1].costOf(39 - i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			untrue := PartIndex{Part: index[1].Part}
			for i, cost := range index[1].costs(0, index[1].n) {
				off, _ := index[1].at(i)
				untrue.add(off, lie(i, cost)-tableRow)
			}
			dir := t.TempDir()
			out, err := OpenOutput(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := out.SaveIndexed(Task{}, indexedOptions, found, converters.Description{}, enc, []int{0, 1}, []PartIndex{index[0], untrue}); err != nil {
				t.Fatal(err)
			}
			x, err := out.Indexed(indexedOptions, found)
			if err != nil || x.Len() != 2 {
				t.Fatal(x.Unused, err)
			}
			all, err := IndexRest(t.Context(), src, enc, []int{0, 1}, x, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{Source: indexedOptions.Source, Encode: spec.Options(), Sizes: Sizes{Shards: 3}}
			plan, err := NewPlan(all, opts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Write(t.Context(), src, plan, out, WriteOptions{Workers: 2}); err == nil || out.has(ManifestName) {
				t.Errorf("it was written: %v", err)
			}
		})
	}
}

// What is no index file is left aside, whatever it is.
func TestIndexedLeavesAside(t *testing.T) {
	t.Parallel()
	src, found, enc := indexedFixture(t, 6, 2, 5)
	dir := t.TempDir()
	o := openShared(t, dir)
	save(t, o, src, found, enc, Task{0, 2})
	at := filepath.Join(dir, indexedDir)
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
	x, err := o.Indexed(indexedOptions, found)
	if err != nil || x.Len() != 1 || len(x.Unused) != 3 || !strings.HasPrefix(x.Unused[0].Error(), filepath.Join(at, "1-of-2")+": ") {
		t.Errorf("%d parts, unused %v, %v", x.Len(), x.Unused, err)
	}
}

// Tasks save at once, the same one twice, too; and nobody has the directory alone meanwhile.
func TestSaveIndexedAtOnce(t *testing.T) {
	t.Parallel()
	src, found, enc := indexedFixture(t, 7, 12, 40)
	dir := t.TempDir()
	var tasks sync.WaitGroup
	ready := openShared(t, dir)
	for i := range 12 {
		tasks.Go(func() {
			o, err := OpenShared(dir)
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				save(t, o, src, found, enc, Task{i % 6, 6})
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := OpenOutput(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("it was had alone: %v", err)
	}
	tasks.Wait()
	x, err := ready.Indexed(indexedOptions, found)
	if err != nil || x.Len() != 12 || len(x.Unused) > 0 {
		t.Errorf("%d parts, unused %v, %v", x.Len(), x.Unused, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, indexedDir))
	if err != nil || len(left) != 6 {
		t.Error(left, err)
	}
}

// Places of any distances are packed and unpacked, in as many lines as it takes.
func TestIndexedPlaces(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		samples   int
		unit, gap int64 // the widest distance, in units
		cost      int64 // beside that
		most      float64
	}{
		"photos in a tar": {packedPlaces + 3, 512, 400, 1 << 11, 5.5},
		"rows":            {packedPlaces * 2, 1, 100, 0, 3.5},
		"far apart":       {1000, 1, 1 << 50, 1 << 40, 30},
		"one":             {1, 512, 1, 9, 200},
		"none":            {0, 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			idx := PartIndex{Part: Part{Name: "a"}}
			off := 3 * row.unit
			for i := range row.samples {
				gap := row.unit * (1 + rng.Int64N(row.gap))
				cost := gap + tableRow + rng.Int64N(row.cost+1)
				if idx.Account.Samples++; i%7 == 6 {
					idx.Account.SamplesLeftOut++
					cost = tableRow - 1
				}
				idx.add(off, cost-tableRow)
				off += gap
			}
			idx.Size = off
			idx.trim()
			var file bytes.Buffer
			found := []Found{{"a", 9, 9}}
			if err := writeIndexed(&file, indexedHead{Asked: "x", Shown: "y"}, found, []int{0}, []PartIndex{idx}); err != nil {
				t.Fatal(err)
			}
			got, err := readBack(file.Bytes(), found)
			if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], idx) {
				t.Errorf("%v: got %d samples that cost %d, want %d and %d", err, got[0].n, got[0].cost, idx.n, idx.cost)
			}
			if each := float64(file.Len()-500) / float64(row.samples); row.samples > 100 && each > row.most {
				t.Errorf("%.1f bytes a sample, want %.1f at most", each, row.most)
			}
		})
	}
}

// Each piece is one task's, in order, and no task has much more than its share.
func TestTaskSlice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		sizes := make([]int64, rng.IntN(50))
		total, largest := int64(0), int64(0)
		for i := range sizes {
			sizes[i] = rng.Int64N(1 << rng.IntN(30))
			total, largest = total+sizes[i], max(largest, sizes[i])
		}
		n := 1 + rng.IntN(60)
		next := 0
		for k := range n {
			first, count := (Task{k, n}).Slice(sizes)
			if count == 0 {
				continue
			}
			if first != next {
				t.Fatalf("%d of %d begins at %d, not %d", k, n, first, next)
			}
			next += count
			bytes := int64(0)
			for _, s := range sizes[first:next] {
				bytes += s
			}
			if bytes > total/int64(n)+largest+1 {
				t.Errorf("%d of %d has %d bytes of %d, the largest piece %d", k, n, bytes, total, largest)
			}
		}
		if next != len(sizes) {
			t.Fatalf("%d of %d pieces are somebody's", next, len(sizes))
		}
	}
	for name, sizes := range map[string][]int64{
		"nothing in any": {0, 0, 0}, "sizes that nobody knows": {-1, -1, -1}, "more than there can be": {1 << 62, 1 << 62, 1 << 62},
	} {
		sum := 0
		for k := range 2 {
			_, n := Task{k, 2}.Slice(sizes)
			sum += n
		}
		if sum != 3 {
			t.Errorf("%s: %d of 3 pieces are somebody's", name, sum)
		}
	}
	if first, n := (Task{}).Slice([]int64{5, 6}); first != 0 || n != 2 {
		t.Error("the zero task is not the whole")
	}
}

// Who indexes some parts is stopped, and told of all that is wrong with them, as for all parts.
func TestIndexSome(t *testing.T) {
	t.Parallel()
	src, _, enc := indexedFixture(t, 9, 4, 10)
	bad := errors.New("bad part")
	src.index = func(part int) error {
		if part == 1 {
			return bad
		}
		return nil
	}
	index, err := IndexSome(t.Context(), src, enc, []int{3, 0}, 2, nil)
	if err != nil || len(index) != 2 || index[0].Name != src.Parts()[3].Name || index[0].Encode != 1 || index[1].Name != src.Parts()[0].Name {
		t.Errorf("%+v, %v", index, err)
	}
	if _, err := IndexSome(t.Context(), src, enc, []int{1, 2}, 2, nil); !errors.Is(err, bad) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := IndexSome(ctx, src, enc, []int{0}, 2, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
