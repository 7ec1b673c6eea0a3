// Package converters defines the interface of dataset sources.
//
// A [Source] is an ordered list of parts (a tar, a CSV part, a CBOR file), each an ordered list of samples. It is read
// in two passes. Index reads the metadata of a part and yields the position and the shape of every sample, from which a
// plan is made. Read then yields the samples of any run of consecutive samples, with their bytes.
//
//	for span, err := range src.Index(ctx, part) { … }       // sizes, hardly any payload
//	for sample, err := range src.Read(ctx, converters.Run{Part: part, First: first, Off: off, Count: n}) { … }
//
// Inside this module most formats implement scan.Reader, of converters/internal/scan, which makes a Source of it. Other modules
// implement Source.
package converters

import (
	"cmp"
	"context"
	"iter"
	"time"
)

// A Source is one opened dataset. All methods may be called concurrently.
type Source interface {
	// Parts lists the parts in dataset order. The slice must not be changed.
	Parts() []Part

	// Index yields the samples of part p and the entries that it skips, in the order of the part. It reads metadata,
	// and opaque payload only where skipping it would take longer. Index returns every error of the data that Read
	// would return, because no shard is begun before its parts have been indexed: all parts, unless they are remote. A
	// yielded Span and its Shape must not be changed, and are valid until the next iteration. An error is the last
	// pair; spans yielded before it must not be used then.
	Index(ctx context.Context, p int) iter.Seq2[*Span, error]

	// Read yields the run.Count samples of one run, in order. A yielded Sample and its bytes are valid until the next
	// iteration. An error is the last pair. A part that ends before run.Count samples is an error.
	Read(ctx context.Context, run Run) iter.Seq2[*Sample, error]
}

// A Span is one sample of a part, or, if Skip is set, one entry that belongs to no sample.
type Span struct {
	Off     int64   // offset of its start in the part, in bytes
	Entries int     // number of entries of the part in it (tar members, files, rows)
	Shape   *Sample // the sample as Read yields it, with sizes in place of opaque payload; nil if Skip is set
	Skip    string  // reason for skipping the entry, as a singular noun: "directory", "symbolic link"
	Name    string  // name of the skipped entry

	// Accepted, "waived" in JSON, marks a defect that an option of the source accepts, or an oddity that is only
	// reported. Such a Span has no entries, and Skip names the defect.
	Accepted bool

	// Alike means that Shape has no key and has the same fields, kinds and sizes as the Shape of the previous sample;
	// integers and floats may differ. An index sizes such rows once, integers aside.
	Alike bool

	// ModTime is the time of the newest file of the sample, if its part is not a single file.
	ModTime time.Time
}

// A Run is Count consecutive samples of one part. Set all of it, from an index: a source may use First, Off or both.
type Run struct {
	Part  int   // index into Parts
	First int64 // number of its first sample in the part, from 0
	Off   int64 // Span.Off of that sample
	Count int64 // samples
}

// A RowSource is a Source that can read many samples at once if each of them is one field of bytes.
type RowSource interface {
	// ReadRows is Read with many samples in each step. ok is false if the samples of the source are not
	// one field of bytes each, all of one size.
	ReadRows(ctx context.Context, run Run) (rows iter.Seq2[Rows, error], ok bool)
}

// Rows are consecutive samples of one size. They are valid until the next iteration.
type Rows struct {
	Off   int64  // of the first one in its part, in bytes
	Count int    // samples, at least 1
	Data  []byte // their fields, back to back
}

// A Describer is a Source with metadata about the whole dataset.
type Describer interface {
	// Describe may be called at any time.
	Describe() Description
}

// Describe returns the description of a source's dataset. A source without a default encoding gets MessagePack, which
// can hold any sample.
func Describe(src Source) Description {
	var says Description
	if d, ok := src.(Describer); ok {
		says = d.Describe()
	}
	says.Encoding = cmp.Or(says.Encoding, "msgpack")
	return says
}

// A Divisible source can be limited to some of its parts, for use when not all parts can be local
// at the same time.
type Divisible interface {
	// WithParts returns a source of the same dataset with other parts. Its part i is part first+i
	// of the dataset. It keeps the columns, types and classes that the source has determined.
	WithParts(first int, parts []Part) Source
}

// A Filtering source passes the samples of another source through a program of the user.
type Filtering interface {
	// Filtered returns counts of the program's answers for part p, nil before the part is indexed.
	Filtered(p int) *Filtered
}

// A Filtered counts the samples that a program made from a part: they are Samples - Dropped + Added. Offsets of spans
// are offsets in the program's output.
type Filtered struct {
	Samples int64  // samples of the part
	Dropped int64  // samples that were dropped
	Added   int64  // samples beyond one per input sample
	Size    int64  // bytes of the part, if it is many files
	Bytes   int64  // bytes of all answers
	Content string // digest of these bytes
}

// A Description is metadata of a dataset. It becomes a part of meta.json.
type Description struct {
	// Encoding is the default encoding of records. "" means msgpack.
	Encoding string `json:"-"`

	// Encoded means that by default the first field of a sample is its encoded record. Its other fields are copies of
	// values in the record.
	Encoded bool `json:"-"`

	// HeaderFound means that the first lines of the parts name the columns, without an option that states it.
	HeaderFound bool `json:"-"`

	// HeaderMissed means that the first lines of the parts are words but not names of columns, without an option that
	// states it.
	HeaderMissed bool `json:"-"`

	// Held is the memory in bytes that each concurrent Read or Index takes, roughly, if that is much; else 0.
	Held int64 `json:"-"`

	Classes []string     `json:"classes,omitempty"` // class names by number, the value of the field cls
	Columns []ColumnType `json:"columns,omitempty"` // of a table, in order
	Added   []AddedField `json:"added,omitempty"`   // fields from other tables
	Shape   []int64      `json:"shape,omitempty"`   // rows and columns of a raw record (the last one of a part may have fewer rows), or height, width and colours
	DType   string       `json:"dtype,omitempty"`   // of the numbers of a raw record without columns: uint8; else ""
}

// mostHeld is the memory in bytes that readers with much of it take together, unless one takes more. The garbage collector
// lets the heap grow to twice that.
const mostHeld = 64 << 20

// AtOnce returns how many of n readers may work at once: fewer if each holds much memory.
func (d *Description) AtOnce(n int) int { return max(1, min(n, int(mostHeld/max(1, d.Held)))) }

// An AddedField is a field that comes from a table, not from the source.
type AddedField struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the file
}

// A ColumnType is the name and the type of a column of a table.
type ColumnType struct {
	Name  string `json:"name"`
	DType string `json:"dtype"` // a numpy name (int64, float32, float64, bool), or str for text
}
