package format

import (
	"hash/crc32"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/record"
)

// A judge reports whether a fetched file is sound: see [input.Options.Sound].
type judge = func(name string, file io.ReaderAt, size int64) bool

// soundShard reads a whole shard and checks its header and all records. It accepts legacy shards and samples of any
// size, which the reader may refuse.
func soundShard(_ string, file io.ReaderAt, size int64) bool {
	sound := true
	scan := record.NewScanner("", size, record.Options{MaxSample: math.MaxInt64, AllowLegacy: true})
	scan.Problem = func(*record.FormatError) { sound = false }
	_, err := io.CopyBuffer(scan, io.NewSectionReader(file, 0, size), make([]byte, min(max(size, 1), 1<<20)))
	if err == nil {
		_, err = scan.Close()
	}
	return sound && err == nil
}

// isManifest is a judge for manifests.
func isManifest(_ string, file io.ReaderAt, size int64) bool {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err == nil {
		_, err = dataset.DecodeManifest(text)
	}
	return err == nil
}

// sums returns a judge for files whose checksums are in the manifest.
func (d *shardDir) sums() judge {
	want := map[string]dataset.FileSum{d.name + dataset.MetaName: d.manifest.Meta}
	for i := range d.manifest.Shards {
		s := &d.manifest.Shards[i]
		want[d.name+dataset.IndexName(s.Name)] = s.Index
	}
	return func(name string, file io.ReaderAt, size int64) bool {
		sum, known := want[name]
		crc := crc32.NewIEEE()
		_, err := io.CopyBuffer(crc, io.NewSectionReader(file, 0, size), make([]byte, min(max(size, 1), 1<<20)))
		return !known || err == nil && size == sum.Bytes && crc.Sum32() == sum.CRC
	}
}
