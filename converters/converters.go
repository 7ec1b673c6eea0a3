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
)

// A Source is one opened dataset. All methods may be called concurrently.
type Source interface {
	// Parts lists the parts in dataset order. The slice must not be changed.
	Parts() []Part

	// Index yields, in part order, everything that part p holds: its samples and
	// the entries it passes over. It reads metadata only, never opaque payload.
	// A yielded Span and its Shape are valid until the next one. After an error,
	// which is the last pair, nothing that was yielded may be relied on.
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

	// Waived marks a finding that would have been refused but for a flag. It has
	// no entries; Skip names what was waived.
	Waived bool
}

// A Run is Count consecutive samples of one part.
type Run struct {
	Part  int   // index into Parts
	First int64 // ordinal of its first sample in the part
	Off   int64 // Span.Off of that sample
	Count int64 // samples
}
