package loader_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/loader"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// content is the field "bin" of sample i: sizes from 0 to 699 bytes, no two alike but the empty ones.
func content(i int64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%06d.", i), int(i*37%101))
}

func key(i int64) string { return fmt.Sprintf("dir/%06d", i) }

// made makes a dataset of the samples first to first+n-1 in so many shards.
func made(t testing.TB, encoding string, first, n int64, shards int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	madeIn(t, dir, encoding, first, n, shards)
	return dir
}

// madeIn replaces what is in a directory.
func madeIn(t testing.TB, dir, encoding string, first, n int64, shards int) {
	t.Helper()
	_, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part(first, n)}}, dir, shardtest.ConvertOptions{
		Encode: encode.Options{Encoding: encoding}, Sizes: plan.Sizes{Shards: shards}, Write: write.Options{Overwrite: true},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// part is the samples first to first+n-1.
func part(first, n int64) (all []converters.Sample) {
	for i := first; i < first+n; i++ {
		all = append(all, converters.Sample{Key: key(i), Fields: []converters.Field{
			{Name: "bin", Value: converters.Bytes(content(i))},
			{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%3))},
		}})
	}
	return all
}

// light reads without a queue of the kernel's: tests open thousands of loaders.
var light = record.Options{AIO: aio.Options{Backend: aio.Pread, Depth: 1, BlockSize: 4096}}

// opened opens datasets. A batch has 8 samples if opts does not say.
func opened(t testing.TB, opts loader.Options, dirs ...string) *loader.Loader {
	t.Helper()
	if opts.Order.Batch == 0 {
		opts.Order.Batch = 8
	}
	l, err := loader.Open(dirs, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// epoch reads an epoch of raw records, and compares each with its content. It returns the samples of each step.
func epoch(t testing.TB, l *loader.Loader) (steps [][]int64) {
	t.Helper()
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		compare(t, b)
		steps = append(steps, append([]int64{}, b.Indices...))
	}
	return steps
}

func compare(t testing.TB, b *loader.Batch) {
	t.Helper()
	if len(b.Offsets) != b.Len()+1 || b.Offsets[0] != 0 || b.Offsets[b.Len()] != int64(len(b.Data)) {
		t.Fatalf("offsets %d of %d bytes, %d samples", b.Offsets, len(b.Data), b.Len())
	}
	for k, i := range b.Indices {
		if !bytes.Equal(b.Sample(k), content(i)) {
			t.Fatalf("sample %d is %.40q", i, b.Sample(k))
		}
	}
}

// ordered is what an epoch has.
func ordered(t testing.TB, shards []int64, opts loader.Order, number uint64, rank, world int) (steps [][]int64) {
	t.Helper()
	steps, err := loader.Ordered(shards, opts, number, rank, world)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}
