// package arrow finds and reads the rows of Arrow files, streams and Feather files, and of the directories that Hugging
// Face's datasets write. A part is a file, a row is a sample, a column of the schema is a field:
//
//	src, err := arrow.Open(parts, arrow.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                      // offsets, texts and numbers
//	for sample, err := range src.Read(ctx, converters.Run{First: first, Count: n}) { … } // the bytes
//
// A stream is messages (https://arrow.apache.org/docs/format/Columnar.html, all numbers little-endian); a file is a stream
// between magic bytes, with a footer:
//
//	┌────────────┬──────────────┬──────────────┬──────┬─────┬─────────────┐
//	│ ffffffff   │ size n       │ metadata     │ body │ …   │ ffffffff, 0 │
//	│ 4          │ 4            │ n            │      │     │ 8           │
//	└────────────┴──────────────┴──────────────┴──────┴─────┴─────────────┘
//	  a file       ARROW1 0 0 · stream · footer · footer size (4) · ARROW1
//	  metadata     a flatbuffer: a schema, the values of a dictionary, or the columns of a record batch
//	  body         the buffers: validity bits, offsets, values; each may be compressed (LZ4 frame, zstd)
//
// A stream must have its end marker, which all known writers write: otherwise a stream that was cut between two
// messages would look complete. There is no checksum: a changed byte is found only if it makes a message or an offset
// malformed.
//
// Rows of a batch are read in chunks of some 4 MiB. The bytes of first-level values are read value by value, and Index
// does not read them unless they are compressed. A compressed buffer is decompressed as a whole, and the most recent
// ones are cached for the next run.
//
// Media are as in package parquet: a struct of "bytes" and "path" becomes two fields.
package arrow

import (
	"cmp"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// Defaults of Options, bytes.
const (
	DefaultMaxBatch = 1 << 30
	DefaultMaxValue = 1 << 30
)

// Options choose columns and limits. The zero value reads all columns.
type Options struct {
	// Fields are lists of alternative names. Only columns of these fields are read. If a part has no field of one of
	// the lists, or if Fields is nil, all columns are read.
	Fields [][]string

	// Load reports whether Index must read the bytes of a field, because the size of the record
	// depends on them. nil: no field.
	Load func(field string) bool

	// MaxBatch limits the memory of the decompressed buffers of a batch and of all dictionaries, in bytes. The same
	// amount is cached for the next Read. 0: DefaultMaxBatch.
	MaxBatch int64

	// MaxValue limits a value, a file next to the part, and all nested values of a row, in bytes, because Read holds
	// them in memory. An element of a nested value counts as 64 bytes. 0: DefaultMaxValue.
	MaxValue int64
}

// A source is an opened list of parts. It holds no file open between calls.
type source struct {
	*scan.Source
	opts       Options
	desc       converters.Description // the columns of the first part and their types, and the class names if one column has labels
	open       scan.Opener
	tables     *columns.Tables[*arrowipc.Table]
	kept       *kept
	mismatches *columns.Mismatches // shared by all parts of the dataset
}

// Open returns a source with these parts. It reads the metadata of the first one, for the columns and classes of the
// dataset. Index and Read check that size and time of the files have not changed.
func Open(parts []converters.Part, opts Options) (*source, error) {
	return openSource(parts, opts, new(converters.Files).Open)
}

func openSource(parts []converters.Part, opts Options, open scan.Opener) (*source, error) {
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	opts.MaxBatch = cmp.Or(max(0, opts.MaxBatch), DefaultMaxBatch)
	opts.MaxValue = cmp.Or(max(0, opts.MaxValue), DefaultMaxValue)
	s := (source{opts: opts, open: open, mismatches: &columns.Mismatches{}}).with(parts)
	if len(parts) == 0 {
		return s, nil
	}
	f, err := open(parts[0], converters.Cached)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := s.table(0, f)
	if err != nil {
		return nil, err
	}
	s.desc = describe(t, opts.Fields)
	return s, nil
}

func (s source) with(parts []converters.Part) *source {
	s.tables, s.kept = &columns.Tables[*arrowipc.Table]{}, &kept{}
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "row", Reader: func() scan.Reader { return &reader{src: &s} },
		With:     func(_ int, parts []converters.Part) converters.Source { return s.with(parts) },
		Describe: func() converters.Description { return s.desc },
		Doubts:   func() []converters.Doubt { return s.mismatches.Doubts(parts) },
	})
	return &s
}

// table returns the metadata of part p, which is open.
func (s *source) table(p int, f io.ReaderAt) (*arrowipc.Table, error) {
	part := s.Parts()[p]
	return s.tables.Get(p, func() (*arrowipc.Table, int64, error) {
		t, err := arrowipc.Read(f, part.Name, part.Size)
		if err == nil {
			err = check(t, part)
		}
		if err != nil {
			return nil, 0, err
		}
		return t, t.Bytes, nil
	})
}
