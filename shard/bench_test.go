package shard

import (
	"fmt"
	"os"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// BenchmarkIndexFile adds one row to the index of a shard. It must cost less than a
// tenth of converting the sample, which BenchmarkWrite times for small ones.
func BenchmarkIndexFile(b *testing.B) {
	x := testIndex(b, plan.Columns{Keys: true, Labels: true})
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
			parts, err := plan.Index(b.Context(), src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: 2})
			if err != nil {
				b.Fatal(err)
			}
			p, err := plan.New(parts, plan.Options{Recipe: plan.Recipe{Encode: spec.Options()}, Sizes: plan.Sizes{Shards: 1}})
			if err != nil {
				b.Fatal(err)
			}
			w, err := NewWriter([]*encode.Spec{spec}, readers, 2)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			file, index := testFile(b), testFile(b)
			for b.Loop() {
				job := &Job{Shard: &p.Shards[0], Plan: p, Source: src, Shape: p.Columns}
				if _, err := w.Write(b.Context(), job, file, index, progress); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b)
		})
	}
}

// progress ignores what it is told.
var progress = plan.StartPhase(nil, "", 0)

// testFile returns a new file.
func testFile(t testing.TB) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// testIndex returns an index with these columns.
func testIndex(t testing.TB, shape plan.Columns) *indexFile {
	t.Helper()
	x, err := newIndex(testFile(t), &Job{Shard: &plan.Shard{}, Plan: &plan.Plan{}, Shape: shape}, testBlocks(t).index())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.stream.Close() })
	return x
}
