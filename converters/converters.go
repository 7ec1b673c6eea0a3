// Package converters says what a dataset source is.
//
// A [Source] is an ordered list of parts (a tar, a CSV part, a CBOR file), each an
// ordered list of samples. It is read in two passes. Index walks a part by its
// metadata alone and says where every sample lies and what shape it has; a plan is
// made from that; Read then streams the bytes of any run of consecutive samples.
//
//	for span, err := range src.Index(ctx, part) { … }       // sizes, no payload
//	for sample, err := range src.Read(ctx, converters.Run{Part: part, Off: off, Count: n}) { … }
//
// The package imports nothing of this module: a source needs only this contract.
package converters

import (
	"context"
	"iter"
	"time"
)

// A Source is one opened dataset. All methods may be called concurrently.
type Source interface {
	// Parts lists the parts in dataset order. The slice must not be changed.
	Parts() []Part

	// Index yields, in part order, everything that part p holds: its samples and
	// the entries it passes over. It reads metadata, and opaque payload only where that is
	// so small that passing over it would cost more. It refuses whatever Read would refuse:
	// nothing is written before every part was indexed. A yielded Span and its Shape
	// are valid until the next one. After an error, which is the last pair, nothing that
	// was yielded may be relied on.
	Index(ctx context.Context, p int) iter.Seq2[Span, error]

	// Read yields the run.Count samples of one run, in order. A yielded Sample and
	// its bytes are valid until the next one. An error is the last pair; a part
	// that ends before run.Count samples is one.
	Read(ctx context.Context, run Run) iter.Seq2[*Sample, error]
}

// A Span is one thing that Index found: a sample, or, where Skip is set, an entry
// that belongs to no sample.
type Span struct {
	Off     int64   // where it starts in its part, bytes
	Entries int     // how many entries of the part it consists of (tar members, files, rows)
	Shape   *Sample // the sample as Read will yield it, its opaque payload sized but not read; nil where Skip is set
	Skip    string  // why the entry is passed over, in words fit for a count: "directory", "symbolic link"
	Name    string  // the entry's own name, where Skip is set

	// Waived marks a finding that would have been refused but for a flag, or that is
	// accepted and told of. It has no entries; Skip names what was waived.
	Waived bool

	// Alike says that Shape has no key, and the same fields of the same kinds and
	// sizes as that of the sample before. Rows of numbers are sized once, not a
	// million times.
	Alike bool

	// ModTime is the newest of the sample's files, where its part is no single file.
	ModTime time.Time
}

// A Run is Count consecutive samples of one part.
type Run struct {
	Part  int   // index into Parts
	First int64 // ordinal of its first sample in the part
	Off   int64 // Span.Off of that sample
	Count int64 // samples
}

// A Describer is a Source that knows more of its dataset than its samples show.
type Describer interface {
	// Describe may be called as soon as the source is open.
	Describe() Description
}

// A Divisible source can be opened over some of its parts alone, where not all of them can
// be local at once.
type Divisible interface {
	// WithParts returns a source of the same dataset over other parts: part i of it is
	// part first+i of the dataset. What Open has learned of the dataset (columns, types,
	// classes) stays.
	WithParts(first int, parts []Part) Source
}

// A Description is what a dataset says of itself. It becomes a part of meta.json.
type Description struct {
	// Encoding is how its records are encoded where the user does not say; "": msgpack.
	Encoding string `json:"-"`

	Classes []string     `json:"classes,omitempty"` // by index: the values of the field cls
	Columns []ColumnType `json:"columns,omitempty"` // of a table, in order
	Shape   []int64      `json:"shape,omitempty"`   // of one raw record, rows then columns; the last of a part may have less rows
}

// A ColumnType says what a column of a table holds.
type ColumnType struct {
	Name  string `json:"name"`
	DType string `json:"dtype"` // as numpy names it: int64, float32, float64, bool; str for text
}
