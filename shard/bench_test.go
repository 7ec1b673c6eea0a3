package shard

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
)

// BenchmarkWriteBehind writes and syncs 256 MiB, leaving all of it to fsync or sending it
// to the device as it is written.
func BenchmarkWriteBehind(b *testing.B) {
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	const size = 256 << 20
	for name, wrap := range map[string]func(f *os.File) io.WriterAt{
		"fsync alone": func(f *os.File) io.WriterAt { return f },
		"behind":      func(f *os.File) io.WriterAt { return newWriteBehind(f) },
	} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "file")
			b.SetBytes(size)
			for b.Loop() {
				f, err := os.Create(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := reserve(f, size); err != nil {
					b.Fatal(err)
				}
				w := wrap(f)
				for off := int64(0); off < size; off += int64(len(block)) {
					if _, err := w.WriteAt(block, off); err != nil {
						b.Fatal(err)
					}
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}

// BenchmarkIndexFile adds one row to the index of a shard. It must cost less than a
// tenth of converting the sample, which BenchmarkWrite times for small ones.
func BenchmarkIndexFile(b *testing.B) {
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	o := &Output{root: root}
	for _, dir := range []string{tmpDir, indexDir} {
		if err := o.mkdir(dir); err != nil {
			b.Fatal(err)
		}
	}
	x, err := createIndex(root, "PART_00000.ffr")
	if err != nil {
		b.Fatal(err)
	}
	defer x.discard()
	s := &converters.Sample{Key: "n01440764/n01440764_10026", Fields: []converters.Field{
		{Name: "jpg", Value: converters.Bytes(make([]byte, 100))}, {Name: "cls", Value: converters.Bytes([]byte("17"))},
	}}
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		if err := x.add(i, 3, s, record.Extent{Off: i * 100, Size: 100, CRC: uint32(i)}); err != nil {
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

// BenchmarkNewPlan plans ten million samples.
func BenchmarkNewPlan(b *testing.B) {
	var part PartIndex
	for i := range int64(10_000_000) {
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
