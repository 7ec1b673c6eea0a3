package lookup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// madeAlike makes a dataset of equal samples without keys, in two parts: its indexes have a rule.
func madeAlike(t *testing.T, n, shards int) string {
	t.Helper()
	src := &memsource.Source{Data: make([][]converters.Sample, 2)}
	for i := range n {
		p := 2 * i / n
		src.Data[p] = append(src.Data[p], converters.Sample{Fields: []converters.Field{{Name: "bin", Value: converters.Bytes([]byte{byte(i), byte(i >> 8)})}}})
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := shardtest.Convert(t.Context(), src, dir, shardtest.ConvertOptions{Encode: encode.Options{Encoding: "raw"}, Sizes: plan.Sizes{Shards: shards}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copied are the rows of a walk.
func copied(t *testing.T, rows func(yield func(*Row, error) bool)) []Row {
	t.Helper()
	var all []Row
	for r, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *r)
	}
	return all
}

// WalkFrom yields what Walk yields, from wherever it begins, and Row what both yield.
func TestWalkFrom(t *testing.T) {
	t.Parallel()
	const n = 40_000
	keyed := made(t, "msgpack", n, 3)
	others := made(t, "msgpack", n, 2)
	for _, name := range []string{dataset.ManifestName, dataset.WorkDir, dataset.IndexDir} {
		if err := os.RemoveAll(filepath.Join(others, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, path := range map[string]string{"keyed": keyed, "others": others, "alike": madeAlike(t, n, 2), "a shard": filepath.Join(keyed, "PART_00001.ffr")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := copied(t, d.Walk(t.Context()))
			if int64(len(want)) != d.Len() {
				t.Fatalf("%d rows of %d", len(want), d.Len())
			}
			for _, first := range []int64{0, 1, 4095, 8191, 8192, d.starts[1] - 1, d.starts[1], d.Len() - 1, d.Len(), d.Len() + 7, -3} {
				got := copied(t, d.WalkFrom(t.Context(), first))
				if want := want[min(max(0, first), d.Len()):]; !slices.Equal(got, want) {
					t.Errorf("from sample %d: %d rows, want %d", first, len(got), len(want))
				}
			}
			for _, i := range []int64{0, 5, 8192, d.Len() - 1} {
				r, err := d.Row(i, true)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Placed {
					records := d.Records()
					if err := errors.Join(records.Locate(r), records.Close()); err != nil {
						t.Fatal(err)
					}
				}
				r.SourceOff = -1
				if *r != want[i] {
					t.Errorf("sample %d: %+v, want %+v", i, *r, want[i])
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for _, err := range d.WalkFrom(ctx, 5) {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
		})
	}
}

// A row says which source its sample is of, and where it begins there.
func TestSources(t *testing.T) {
	t.Parallel()
	const n = 70_000
	d, err := Open(madeAlike(t, n, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range copied(t, d.WalkFrom(t.Context(), 0)) {
		if r.Source != 2*i/n || r.SourceOff != -1 {
			t.Fatalf("sample %d: %+v", i, r)
		}
	}
	for i, want := range map[int64]int64{0: 0, 1: -1, 32_768: 32_768, n / 2: 0, n/2 + 1: -1, n/2 + 32_768: 32_768} {
		r, err := d.Row(i, true)
		if err != nil || r.SourceOff != want || r.Source != int(2*i/n) {
			t.Errorf("sample %d: %+v, %v, want the offset %d", i, r, err, want)
		}
	}
	d = opened(t, made(t, "msgpack", 300, 2))
	for r, err := range d.Find(t.Context(), key(250)) {
		if err != nil || r.Source != 0 || r.SourceOff != 250 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// In a large dataset without keys nothing is found, and no table is made.
func TestFindWithoutKeys(t *testing.T) {
	t.Parallel()
	dir := madeAlike(t, 300, 1)
	d := opened(t, dir)
	for _, key := range []string{"x", ""} {
		if got := numbers(t, d, key); got != nil {
			t.Errorf("%q: %v", key, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, dataset.KeysName)); err == nil {
		t.Error("there is a table")
	}
}

// Forks may be used at the same time. One of them makes the table of keys.
func TestFork(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := made(t, "msgpack", n, 2)
	var mu sync.Mutex
	begun, last := 0, int64(0)
	d := opened(t, dir)
	d.keys.progress = func(done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if done == 0 {
			begun++
		}
		if done < last || total != n || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	var wg sync.WaitGroup
	for i := range 8 {
		d := d.Fork()
		wg.Go(func() {
			checkKeys(t, d, n)
			at := int64(i * n / 8)
			for r, err := range d.WalkFrom(t.Context(), at) {
				if err != nil || r.Number != at || r.Key != key(int(at)) {
					t.Errorf("sample %d: %+v, %v", at, r, err)
					break
				}
				data, err := d.Record(r)
				if err != nil {
					t.Error(err)
					break
				}
				if s, err := d.Decode(r, data); err != nil || s.Key != key(int(at)) {
					t.Errorf("sample %d: %v", at, err)
				}
				if at++; at%200 == 0 {
					break
				}
			}
		})
	}
	wg.Wait()
	if begun != 1 || last != n {
		t.Errorf("the table was begun %d times; %d samples at the end", begun, last)
	}
}

// Where the dataset cannot be written its table is made in another directory, known by what the indexes are, and
// anew where it is damaged.
func TestTableDir(t *testing.T) {
	t.Parallel()
	const n = 300
	dir, other := made(t, "msgpack", n, 2), made(t, "cbor", n-10, 1)
	for _, dir := range []string{dir, other} { // nobody can make a directory there, whoever runs the test
		work := filepath.Join(dir, ".ffconvert")
		if err := errors.Join(os.RemoveAll(work), os.WriteFile(work, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tables := filepath.Join(t.TempDir(), "cache", "keys")
	made := 0
	find := func(path string, n int) {
		t.Helper()
		d, err := Open(path, Options{TableDir: tables})
		if err != nil {
			t.Fatal(err)
		}
		d.few, d.keys.progress = 0, func(done, total int64) {
			if done == 0 {
				made++
			}
		}
		checkKeys(t, d, n)
	}
	find(dir, n)
	find(other, n-10)
	find(dir+"/", n)
	if made != 2 {
		t.Errorf("%d tables were made of two datasets", made)
	}
	if rel, err := filepath.Rel(mustGetwd(t), dir); err == nil {
		find(rel, n)
	}
	if made != 2 {
		t.Error("another path made another table")
	}
	names, err := filepath.Glob(filepath.Join(tables, "*.keys"))
	if tmp, _ := filepath.Glob(filepath.Join(tables, "tmp", "*")); err != nil || len(names) != 2 || len(tmp) > 0 {
		t.Fatal(names, tmp, err)
	}
	for _, name := range names {
		flip(t, name, pageSize+100)
	}
	find(dir, n)
	if made != 3 {
		t.Errorf("%d tables were made, one of them was damaged", made)
	}
	find(filepath.Join(dir, "PART_00000.ffr"), 0)
	if made != 4 {
		t.Errorf("%d tables were made, one of a shard", made)
	}
	if _, err := os.Stat(filepath.Join(dir, dataset.KeysName)); err == nil {
		t.Error("the dataset was written to")
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A table is not made twice because its making ended with the context, nor is an error of an index hidden.
func TestTableEnds(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := made(t, "msgpack", n, 2)
	ctx, cancel := context.WithCancel(t.Context())
	d := opened(t, dir)
	d.keys.progress = func(done, total int64) {
		if done > 0 {
			cancel()
		}
	}
	for _, err := range d.Find(ctx, key(50)) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, dataset.KeysName)); err == nil {
		t.Error("a table was made after the context had ended")
	}
	d.keys.progress = nil
	checkKeys(t, d, n)
	if err := os.Truncate(filepath.Join(dir, "index", "PART_00000.arrow"), 1000); err != nil {
		t.Fatal(err)
	}
	var err error
	for _, err = range d.WalkFrom(t.Context(), 5) {
	}
	if place.KindOf(err) != place.Corrupt {
		t.Error(fmt.Sprint(err))
	}
}
