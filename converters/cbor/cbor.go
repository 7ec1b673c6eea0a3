// package cbor finds and reads the samples of CBOR sequences, and of MessagePack streams.
//
// A part is a sequence of data items without anything between them (RFC 8742). Each item is one
// sample:
//
//	src := cbor.Open(parts, cbor.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                   // where items are, no byte string read
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// A data item is a head and what the head announces (RFC 8949, 3; all big-endian):
//
//	┌────────────┬──────────────────┬────────────────────────────────────────────┐
//	│ type  info │ argument n       │ content                                    │
//	│ 3 + 5 bits │ 0, 1, 2, 4, 8    │                                            │
//	└────────────┴──────────────────┴────────────────────────────────────────────┘
//	  0 n · 1 −1−n · 7 float, simple   none            info 0–23: n itself
//	  2 bytes · 3 text                 n bytes         info 24–27: n is 1, 2, 4, 8 bytes
//	  4 array · 6 tag                  n items · 1     info 28–30: reserved
//	  5 map                            n pairs         info 31: of types 2–5, up to a break (0xff)
//
// MessagePack has the same kinds of items with other first bytes (internal/heads/messagepack.go). Neither format has
// a checksum: a changed byte is found only if it makes an item malformed.
//
// By default the fields of a sample are the entries of its map. The keys of the map must be text,
// without duplicates. The entry "__key__" is the key of the sample, not a field. Any other item
// becomes one field, "item". With [Options.Items] every item becomes one field with its own bytes.
//
// An item is checked completely before it is yielded: heads, nesting, chunks, UTF-8. A length that
// exceeds the part is refused before anything is allocated. Two samples may have the same key,
// because the format does not forbid it.
//
// A map whose only entry is "__begin__" or "__end__" is not a sample: it is a mark by which a program says that its stream is
// complete. Index compares what an end mark says.
package cbor

import (
	"cmp"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// Defaults of Options.
const (
	DefaultMaxDepth = 32
	DefaultMaxItem  = 1 << 30  // bytes
	DefaultMaxName  = 64 << 10 // bytes
)

// itemField is the name of the field that holds a whole item.
const itemField = "item"

// Limits without an option.
const (
	MostDepth   = 1<<16 - 1 // of Options.MaxDepth: keeps stacks small
	elementSize = 64        // approximate memory of a field or of an element of a decoded value, bytes
)

// Options select the format and define a sample. The zero value reads CBOR and makes a field of each
// entry of a map.
type Options struct {
	// MessagePack selects MessagePack instead of CBOR.
	MessagePack bool

	// Items makes each item a sample with one field, ItemField: the item's own bytes, unchanged.
	// If the item is a map with the entry "__key__", and both are text of definite length, the
	// sample has that key. Every well-formed item is accepted, with any tag and extension.
	Items bool

	// Fields means that samples have fields to be kept, so that Describe proposes MessagePack for records.
	Fields bool

	// MaxDepth limits the nesting of arrays, maps and tags. At most 65,535.
	// 0: DefaultMaxDepth.
	MaxDepth int

	// MaxItem limits the size of an item in bytes, because Read holds an item in memory. It also
	// limits the memory of its fields and of the elements of decoded values, at 64 bytes each;
	// 4 MiB of these are always allowed. 0: DefaultMaxItem.
	MaxItem int64

	// MaxName limits a key and the name of a field, in bytes, because Index holds them in memory
	// even if it does not hold the item. 0: DefaultMaxName.
	MaxName int64

	// RequireEnd refuses a part without an end mark: see package converters/internal/scan.
	RequireEnd bool

	// Load reports whether Index must read the bytes of a field, because the size of the record
	// depends on them. nil: no field.
	Load func(field string) bool
}

// A source is an opened list of parts. It holds no file open between calls.
type source struct {
	*scan.Source
	opts  Options
	forms *heads.Forms
	open  scan.Opener
	slow  bool // no patterns, so that tests can compare
}

// Open returns a source with these parts. It does not open files. Index and Read do, and check that
// size and time of the file have not changed.
func Open(parts []converters.Part, opts Options) *source {
	opts.MaxDepth = cmp.Or(max(0, opts.MaxDepth), DefaultMaxDepth)
	opts.MaxItem = cmp.Or(max(0, opts.MaxItem), DefaultMaxItem)
	opts.MaxName = cmp.Or(max(0, opts.MaxName), DefaultMaxName)
	opts.MaxDepth = min(opts.MaxDepth, MostDepth)
	opts.MaxItem = min(opts.MaxItem, math.MaxInt/4) // a buffer is up to a quarter larger
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	s := &source{opts: opts, forms: heads.CBOR, open: new(converters.Files).Open}
	if opts.MessagePack {
		s.forms = heads.MessagePack
	}
	return s.with(parts)
}

func (s source) with(parts []converters.Part) *source {
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "item", Reader: func() scan.Reader { return s.scanner() },
		With:     func(_ int, parts []converters.Part) converters.Source { return s.with(parts) },
		Describe: s.describe,
	})
	return &s
}

func (s *source) scanner() *scanner {
	c := &scanner{parser: parser{opts: &s.opts, forms: s.forms}, quickly: s.opts.Items && !s.slow, mostHeads: max(s.opts.MaxItem, 4<<20) / elementSize}
	c.batch.Init(itemField)
	return c
}

// describe returns the default encoding, raw: a record is an item's own bytes. It needs
// Options.Items.
func (s *source) describe() converters.Description {
	if s.opts.Fields {
		return converters.Description{}
	}
	return converters.Description{Encoding: "raw"}
}
