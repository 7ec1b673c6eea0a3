package lookup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
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
					if err := errors.Join(records.Locate(t.Context(), r), records.Close()); err != nil {
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
	for r, err := range d.Find(t.Context(), key(250), false) {
		if err != nil || r.Source != 0 || r.SourceOff != 250 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// A search opens each index once, unless many samples have the key; it yields all of them.
func TestFindOpens(t *testing.T) {
	t.Parallel()
	all := make([]sample, 200)
	for i := range all {
		all[i].key = key(i / 2)
		if i >= 10 && i < 90 {
			all[i].key = "many"
		}
	}
	d, opens := madeOf(t, "msgpack", all), atomic.Int32{}
	d.opts.URL, d.opts.Open = d.Dir, func(name string) (dataset.File, int64, error) {
		opens.Add(1)
		data, err := os.ReadFile(filepath.Join(d.Dir, name))
		return memory{bytes.NewReader(data)}, int64(len(data)), err
	}
	for _, row := range []struct {
		key    string
		want   []int64
		opened int32
	}{{key(60), []int64{120, 121}, 2}, {"none", nil, 2}, {"many", numbered(10, 90), 3}} {
		opens.Store(0)
		if got := numbers(t, d, row.key); !slices.Equal(got, row.want) || opens.Load() != row.opened {
			t.Errorf("%s: samples %v of %d opened indexes, want %v of %d", row.key, got, opens.Load(), row.want, row.opened)
		}
	}
}

// numbered are the numbers from one to another, exclusive.
func numbered(from, to int64) (all []int64) {
	for ; from < to; from++ {
		all = append(all, from)
	}
	return all
}

// In a dataset without keys nothing is found.
func TestFindWithoutKeys(t *testing.T) {
	t.Parallel()
	d := opened(t, madeAlike(t, 300, 1))
	for _, key := range []string{"x", ""} {
		if got := numbers(t, d, key); got != nil {
			t.Errorf("%q: %v", key, got)
		}
	}
}

// Forks may be used at the same time.
func TestFork(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := made(t, "msgpack", n, 2)
	d := opened(t, dir)
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
				data, err := d.Record(t.Context(), r)
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
}

// A cancelling file of zeros cancels a context when it is read.
type cancelling struct {
	cancel func()
	reads  int
}

func (f *cancelling) ReadAt(p []byte, _ int64) (int, error) {
	f.reads++
	f.cancel()
	return len(p), nil
}

func (f *cancelling) Close() error { return nil }

// A search ends with its context, and an error of an index is not hidden.
func TestEnds(t *testing.T) {
	t.Parallel()
	dir := made(t, "msgpack", 20_000, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := 0
	for _, err := range opened(t, dir).Find(ctx, key(50), false) {
		if errs++; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if errs != 1 {
		t.Errorf("%d errors", errs)
	}
	for _, err := range opened(t, dir).Find(ctx, key(50), true) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before the indexes are compared: %v", err)
		}
	}
	ctx, cancel = context.WithCancel(t.Context())
	x := &index{file: &cancelling{cancel: cancel}, want: dataset.FileSum{Bytes: 64 << 20}}
	if err := x.check(ctx); !errors.Is(err, context.Canceled) || x.file.(*cancelling).reads != 1 {
		t.Errorf("cancelled within an index: %v after %d reads", err, x.file.(*cancelling).reads)
	}
	if err := os.Truncate(filepath.Join(dir, "index", "PART_00000.arrow"), 1000); err != nil {
		t.Fatal(err)
	}
	var err error
	for _, err = range opened(t, dir).WalkFrom(t.Context(), 5) {
	}
	if place.KindOf(err) != place.Corrupt {
		t.Error(fmt.Sprint(err))
	}
}
