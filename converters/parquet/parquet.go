// package parquet finds and reads the rows of Parquet files. A part is a file, a row is a sample, a column of the
// schema's first level is a field:
//
//	src, err := parquet.Open(ctx, parts, parquet.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                      // lengths, texts and numbers
//	for sample, err := range src.Read(ctx, converters.Run{First: first, Count: n}) { … } // the bytes
//
// A file (https://parquet.apache.org/docs/file-format, all numbers little-endian, footer and page headers in Thrift's
// compact protocol):
//
//	┌──────┬─────────────────────────────┬─────┬────────┬──────────────┬──────┐
//	│ PAR1 │ row group 0                 │ 1 … │ footer │ footer size  │ PAR1 │
//	│ 4    │ column chunk 0, 1 …         │     │        │ 4            │ 4    │
//	└──────┴─────────────────────────────┴─────┴────────┴──────────────┴──────┘
//	         chunk   dictionary page (0 or 1), data pages
//	         page    header with sizes and an optional CRC-32 of what follows; repetition levels,
//	                 definition levels, values; compressed as a whole, or in version 2 the values alone
//
// Values are decoded page by page as rows need them, only for the chosen columns. So a run holds one page of each
// column in memory; of a large page of zstd, gzip or Brotli only the codec's window. A run that begins inside a row
// group skips the preceding pages by their headers; pages of version 1 of a column of lists it decodes.
// A run that continues where the reader's previous one ended continues in its pages.
//
// Index needs the length of every value. It skips the bytes of uncompressed, plain pages of byte strings; other pages
// are read and decoded by Index and by Read. Both compare the CRC of a page that has one. There is no other checksum: a
// changed byte is found only if it makes a page malformed.
//
// A struct of "bytes" and "path", which Hugging Face's datasets use for images and audio, becomes two fields: the
// bytes, named as the column, and the text COLUMN.path. If bytes is null and path is not, the bytes come from the file
// at that path below the directory of the part.
package parquet

import (
	"cmp"
	"context"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Defaults of Options, bytes.
const (
	DefaultMaxFooter = 64 << 20
	DefaultMaxPage   = 1 << 30
	DefaultMaxValue  = 1 << 30
)

// Options choose columns and limits. The zero value reads all columns.
type Options struct {
	// Fields are lists of alternative names. Only columns of these fields are read. If a part has no field of one of
	// the lists, or if Fields is nil, all columns are read.
	Fields [][]string

	// Load reports whether Index must read the bytes of a field, because the size of the record
	// depends on them. nil: no field.
	Load func(field string) bool

	// Pack makes a row one field, "row": its numbers, little-endian, one after another. It does so if all columns of all
	// parts that are here are the same, numbers of one type, float64, float32 or int64, and have no nulls by their
	// footers, and no column has classes or is __key__. Index then refuses a part with other columns, and a null.
	Pack bool

	// Labels: rows are not packed either if a column cls or index is int64, which are the labels of samples.
	Labels bool

	// MaxFooter limits the size of a footer in bytes, because it takes some 5 times its size in memory. 0:
	// DefaultMaxFooter.
	MaxFooter int64

	// MaxPage limits, in bytes, the size of a decompressed page, of a stored page that must be held, and of all pages
	// and dictionaries that a run holds. 0: DefaultMaxPage.
	MaxPage int64

	// MaxValue limits a value, a file next to the part, and all nested values of a row, in bytes, because Read holds
	// them in memory. An element of a nested value counts as 64 bytes. 0: DefaultMaxValue.
	MaxValue int64
}

// A source is an opened list of parts. It holds no file open between calls.
type source struct {
	*scan.Source
	opts       Options
	desc       converters.Description // the columns of the first part and their types, and the class names if one column has labels
	flowFrom   int64                  // see the constant
	width      int                    // bytes of a number if rows are packed; 0: they are not
	open       scan.Opener
	footers    *columns.Tables[*table]
	mismatches *columns.Mismatches // shared by all parts of the dataset
}

// Open returns a [converters.Source] with these parts, which is a Describer of the columns, a Divisible and a RowSource,
// too. It reads the footer of the first one, for the columns and classes of the dataset, and with Options.Pack those of all
// parts that are here. Index and Read check that size and time of the files have not changed.
func Open(ctx context.Context, parts []converters.Part, opts Options) (*source, error) {
	return openSource(ctx, parts, opts, new(converters.Files).Open)
}

func openSource(ctx context.Context, parts []converters.Part, opts Options, open scan.Opener) (*source, error) {
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	opts.MaxFooter = cmp.Or(max(0, opts.MaxFooter), DefaultMaxFooter)
	opts.MaxPage = cmp.Or(max(0, opts.MaxPage), DefaultMaxPage)
	opts.MaxValue = cmp.Or(max(0, opts.MaxValue), DefaultMaxValue)
	s := (source{opts: opts, flowFrom: flowFrom, open: open, mismatches: &columns.Mismatches{}}).with(parts)
	if len(parts) == 0 {
		return s, nil
	}
	for p := range parts {
		if p > 0 && (s.width == 0 || parts[p].Path == "") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, &converters.Error{Where: parts[p].Name, Off: -1, Err: err}
		}
		table, held, err := s.openTable(p)
		if err != nil {
			if p == 0 {
				return nil, err
			}
			continue // Index refuses the part
		}
		desc := table.describe(opts.Fields)
		if p == 0 {
			s.desc, s.desc.Held = desc, held
		}
		if s.width = table.packed(desc, opts.Labels); !opts.Pack || !slices.Equal(desc.Columns, s.desc.Columns) {
			s.width = 0
		}
	}
	if s.width > 0 {
		s.desc.Encoding, s.desc.Shape = "raw", []int64{int64(len(s.desc.Columns))}
	}
	return s, nil
}

// openTable returns the footer of part p, and, of the first part, the memory of a reader.
func (s *source) openTable(p int) (t *table, held int64, err error) {
	f, err := s.open(s.Parts()[p], converters.Cached)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if t, err = s.table(p, f); err == nil && p == 0 && t.rows > 0 {
		r := reader{src: s, table: t}
		r.choose()
		held = r.estimate(f)
	}
	return t, held, err
}

func (s source) with(parts []converters.Part) *source {
	s.footers = &columns.Tables[*table]{}
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "row", Reader: func() scan.Reader { return &reader{src: &s} },
		With:     func(_ int, parts []converters.Part) converters.Source { return s.with(parts) },
		Describe: func() converters.Description { return s.desc },
		Doubts:   func() []converters.Doubt { return s.mismatches.Doubts(parts) },
		Rows:     s.packedRows,
	})
	return &s
}
