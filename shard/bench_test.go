package shard

import (
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// BenchmarkIndexFile adds one row to the index of a shard. It must cost less than a
// tenth of converting the sample, which BenchmarkWrite times for small ones.
func BenchmarkIndexFile(b *testing.B) {
	x, err := createIndex(openTemp(b).Dir, &job{Shard: &plan.Shard{Name: "PART_00000.ffr"}}, plan.Columns{Keys: true, Labels: true}, testBlocks(b).index())
	if err != nil {
		b.Fatal(err)
	}
	defer x.discard()
	b.ReportAllocs()
	row := entry{part: 3, label: 17, labels: true}
	for i := int64(0); b.Loop(); i++ {
		if err := x.add(i, &row, []byte("n01440764/n01440764_10026"), record.Extent{Off: i * 100, Size: 100, CRC: uint32(i)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRows indexes and writes two million rows of sixteen bytes, which cost their
// handling and nothing else.
func BenchmarkRows(b *testing.B) {
	src := &memsource.Table{Rows: 1_000_000}
	for i := range 2 {
		src.Data = append(src.Data, converters.Part{Name: fmt.Sprint(i), Size: 16 * src.Rows, Path: "none"})
	}
	spec, err := encode.Parse(encode.Options{Encoding: "raw:row"})
	if err != nil {
		b.Fatal(err)
	}
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*src.Rows), "ns/row")
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			if _, err := plan.Index(b.Context(), src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: 1}); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b)
	})
	for _, readers := range []int{1, 2} {
		b.Run(fmt.Sprintf("fill/%d readers", readers), func(b *testing.B) {
			index, err := plan.Index(b.Context(), src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: 2})
			if err != nil {
				b.Fatal(err)
			}
			p, err := plan.New(index, plan.Options{Recipe: plan.Recipe{Encode: spec.Options()}, Sizes: plan.Sizes{Shards: 1}})
			if err != nil {
				b.Fatal(err)
			}
			out := openTemp(b)
			k := &worker{writer: &writer{plan: p, out: out, progress: discard{}, watcher: discard{}}, blocks: testBlocks(b)}
			for range readers {
				k.encoders = append(k.encoders, newEncoders(spec))
			}
			for b.Loop() {
				f, err := files.Create(out.Root, out.Temp(p.Shards[0].Name))
				if err != nil {
					b.Fatal(err)
				}
				t := &job{Shard: &p.Shards[0], plan: p, src: src}
				index, err := createIndex(out.Dir, t, p.Columns, k.blocks.index())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := k.fill(b.Context(), t, f, index); err != nil {
					b.Fatal(err)
				}
				index.discard()
				f.Discard()
			}
			perRow(b)
		})
	}
}

// openTemp opens a new directory that files can be written to.
func openTemp(t testing.TB) *dataset.Task {
	t.Helper()
	out, err := dataset.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	for _, dir := range []string{out.Temp(""), dataset.IndexDir} {
		if err := out.Mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	return out.Task
}
