// package mds finds and reads the samples of MDS shards, which MosaicML's streaming library writes.
//
//	index, err := mds.ParseIndex(text, "data/index.json")    // what each shard is
//	src, err := mds.Open(parts, shards, mds.Options{})       // shards[i] describes parts[i]
//	for span, err := range src.Index(ctx, 0) { … }           // a sample: image=31,022 bytes, label=7
//	for sample, err := range src.Read(ctx, run) { … }        // its bytes
//
// A part is one shard, uncompressed; all numbers are little-endian, offsets count from its start
// (https://github.com/mosaicml/streaming, streaming/base/format/mds, version 2 of index.json):
//
//	┌─────────┬───────────────────┬──────────────┬──────────┬─────┬──────────┐
//	│ N (u32) │ offsets           │ config       │ sample 0 │  …  │ sample   │
//	│ 4       │ u32 × (N+1)       │ JSON         │          │     │ N−1      │
//	└─────────┴───────────────────┴──────────────┴──────────┴─────┴──────────┘
//	          the last offset is the end of the file
//
//	sample   u32 × columns without a fixed size: their sizes in bytes; then the values of all columns, in order
//
// The encoding of a column decides the value of its field:
//
//	bytes, jpeg, png       the bytes
//	pil                    the bytes: width, height, length of the mode (u32 each), mode, pixels
//	str, str_decimal       text
//	int, int8 … int64,
//	uint8 … uint64         integer
//	float16 … float64      float64, the same number
//	str_int, str_float     integer of 64 bits; float64 nearest to the digits
//	json                   the value, nested
//	ndarray, all forms     an array file of numpy (npy), so that numpy.load has type and shape
//	jpeg_array, list[jpeg],
//	list[png], list[pil]   list of bytes
//	pkl, others            refused
//
// A scalar column without a size in index.json has an encoding of another program; it stays bytes. A text column
// "__key__" is the key of the sample.
//
// Index verifies the hashes in index.json, for which it reads the whole shard. Without hashes it reads no bytes of
// columns bytes, jpeg, png, pil and ndarray: a changed byte there is not found.
package mds

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// DefaultMaxSample is the default of Options.MaxSample.
const DefaultMaxSample = 1 << 30

// Options limit the memory of values. The zero value has the default limits.
type Options struct {
	// MaxSample limits the size of a sample in bytes, because Read holds one in memory, and the size of a shard
	// compressed by snappy, which is held as a whole. 0: DefaultMaxSample.
	MaxSample int64

	// MaxJSON limits the size of a value of a json column in bytes. 0: 16 MiB.
	MaxJSON int64

	// MaxDepth is the deepest nesting of lists and maps in a json column. 0: 32.
	MaxDepth int

	// Load reports whether Index must read the bytes of a field, because the size of the record depends on them. nil:
	// no field.
	Load func(field string) bool
}

// A source is an opened list of shards. It holds no file open between calls.
type source struct {
	*scan.Source
	shards []*layout // parallel to the parts
	opts   Options
	open   scan.Opener
}

// Open returns a source of these parts; shards[i] describes parts[i]. It refuses columns of unsupported encodings. It
// opens no files.
func Open(parts []converters.Part, shards []Shard, opts Options) (*source, error) {
	opts.MaxSample = cmp.Or(max(opts.MaxSample, 0), DefaultMaxSample)
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	s := source{opts: opts, open: new(converters.Files).Open}
	for i := range parts {
		if i > 0 && slices.Equal(shards[i].Columns, shards[i-1].Columns) {
			l := *s.shards[i-1]
			l.Shard = &shards[i]
			s.shards = append(s.shards, &l)
			continue
		}
		l, err := newLayout(&shards[i])
		if err != nil {
			return nil, &converters.Error{Where: parts[i].Name, Off: -1, Err: err}
		}
		s.shards = append(s.shards, l)
	}
	return s.with(parts), nil
}

func (s source) with(parts []converters.Part) *source {
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "sample", Reader: func() scan.Reader { return &reader{src: &s} },
		With: func(first int, parts []converters.Part) converters.Source {
			some := s
			some.shards = s.shards[first : first+len(parts)]
			return some.with(parts)
		},
		Doubts: s.doubts,
	})
	return &s
}

// doubts reports hashes that cannot be verified.
func (s *source) doubts() []converters.Doubt {
	var all []converters.Doubt
	told := make(map[string]bool)
	for i, l := range s.shards {
		for _, f := range []*file{&l.Raw, &l.Zip} {
			for _, name := range f.unknown() {
				if !told[name] {
					told[name] = true
					all = append(all, converters.Doubt{Part: s.Parts()[i].Name, Off: -1, Text: fmt.Sprintf("hashes %q are not compared: the algorithm is not known", name)})
				}
			}
		}
	}
	return all
}
