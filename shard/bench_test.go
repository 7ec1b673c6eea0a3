package shard

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
)

// BenchmarkIndexFile adds one row to the index of a shard. It must cost less than a
// tenth of converting the sample, which BenchmarkWrite times for small ones.
func BenchmarkIndexFile(b *testing.B) {
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	o := &Output{root: root}
	for _, dir := range []string{o.tmp(""), indexDir} {
		if err := o.mkdir(dir); err != nil {
			b.Fatal(err)
		}
	}
	x, err := createIndex(o, "PART_00000.ffr", 0, Columns{Keys: true, Labels: true}, testBuffers(b))
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

// BenchmarkWrite converts 100,000 samples of about 100 bytes, a shard a worker.
func BenchmarkWrite(b *testing.B) {
	src := newFixture(1, 2, 50_000, 200)
	plan := newPlan(b, src, encode.Options{}, Options{Sizes: Sizes{Shards: 2}})
	dir := b.TempDir()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		out, err := OpenOutput(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Write(context.Background(), src, plan, out, WriteOptions{NoVerify: true}); err != nil {
			b.Fatal(err)
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/sample")
}

// BenchmarkNewPlan plans ten million samples, a hundred thousand with -short.
func BenchmarkNewPlan(b *testing.B) {
	samples := int64(10_000_000)
	if testing.Short() {
		samples /= 100
	}
	var part PartIndex
	for i := range samples {
		part.add(i*1000, 900+i%200)
		part.Account.Samples++
	}
	for name, opts := range map[string]Options{"in order": {}, "shuffled": {Shuffle: &Shuffle{1}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := NewPlan([]PartIndex{part}, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSlice writes the plan of 400,000 shuffled samples, and reads it as a task does that
// has all 20 shards. A sample has a run of its own.
func BenchmarkSlice(b *testing.B) {
	parts := make([]PartIndex, 100)
	for i := range parts {
		parts[i].Size = 1 << 40
		for j := range int64(4000) {
			parts[i].add(j*1_000_003, 900+j%200)
			parts[i].Account.Samples++
		}
	}
	plan, err := NewPlan(parts, Options{Shuffle: &Shuffle{1}, Sizes: Sizes{Shards: 20}})
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			file.Reset()
			if _, err := plan.Write(&file); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(file.Len()))
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(file.Len()))
		for b.Loop() {
			f, err := readPlanFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err == nil {
				_, err = f.slice(Task{0, 1}, false)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A table is a source of rows of two numbers, all alike.
type table struct {
	parts []converters.Part
	rows  int64 // of each part
}

func (s *table) Parts() []converters.Part { return s.parts }

func (s *table) Index(_ context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		shape := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Opaque(16)}}}
		for i := range s.rows {
			shape.Off = 16 * i
			if !yield(converters.Span{Off: 16 * i, Entries: 1, Shape: shape, Alike: i > 0}, nil) {
				return
			}
		}
	}
}

func (s *table) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		var row [16]byte
		sample := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Bytes(row[:])}}}
		for i := range run.Count {
			sample.Off = run.Off + 16*i
			if !yield(sample, nil) {
				return
			}
		}
	}
}

// BenchmarkRows indexes and writes two million rows of sixteen bytes, which cost their
// handling and nothing else.
func BenchmarkRows(b *testing.B) {
	src := &table{rows: 1_000_000}
	for i := range 2 {
		src.parts = append(src.parts, converters.Part{Name: fmt.Sprint(i), Size: 16 * src.rows, Path: "none"})
	}
	spec, err := encode.Parse(encode.Options{Encoding: "raw:row"})
	if err != nil {
		b.Fatal(err)
	}
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*src.rows), "ns/row")
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			if _, err := Index(b.Context(), src, spec, 1, nil); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b)
	})
	for _, readers := range []int{1, 2} {
		b.Run(fmt.Sprintf("fill/%d readers", readers), func(b *testing.B) {
			plan := newPlan(b, src, spec.Options(), Options{Sizes: Sizes{Shards: 1}})
			dir := b.TempDir()
			out, err := OpenOutput(dir)
			if err != nil {
				b.Fatal(err)
			}
			defer out.Close()
			for _, d := range []string{out.tmp(""), indexDir} {
				if err := out.mkdir(d); err != nil {
					b.Fatal(err)
				}
			}
			k := &worker{writer: &writer{plan: plan, out: out, progress: silent{}}, buffers: testBuffers(b)}
			for range readers {
				k.encoders = append(k.encoders, newEncoders(spec))
			}
			for b.Loop() {
				f, err := atomicfile.Create(out.root, out.tmp(plan.Shards[0].Name))
				if err != nil {
					b.Fatal(err)
				}
				index, err := createIndex(out, plan.Shards[0].Name, 0, Columns{}, k.buffers)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := k.fill(b.Context(), &task{Shard: &plan.Shards[0], plan: plan, src: src}, f, index); err != nil {
					b.Fatal(err)
				}
				index.discard()
				f.Discard()
			}
			perRow(b)
		})
	}
}
