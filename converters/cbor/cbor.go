// Package cbor finds and reads the samples of CBOR sequences, and of MessagePack streams.
//
// A part is data items back to back, with nothing before, between or behind them
// (RFC 8742). Each item is one sample:
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
// MessagePack has the same parts in other numbers (messagepack.go). Neither has a
// checksum: a changed byte is found only where it makes an item malformed.
//
// By default the fields of a sample are the entries of its map. A map has text for
// keys and none of them twice; "__key__" is the key of the sample and no field. Any
// other item is one field, "item". With [Options.Items] the item's own bytes are the
// one field, whatever the item is.
//
// Every item is checked whole before it counts: heads, nesting, chunks, UTF-8. A length
// that is longer than the part is refused by arithmetic, nothing is allocated for it.
// Keys may come back: nothing in the format says that they do not.
package cbor

import (
	"math"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// What Options have where they are zero.
const (
	DefaultMaxDepth = 32
	DefaultMaxItem  = 1 << 30  // bytes
	DefaultMaxName  = 64 << 10 // bytes
)

// ItemField is the name of the field that holds a whole item.
const ItemField = "item"

// keyEntry is the entry of a map that is the key of the sample.
const keyEntry = "__key__"

// Limits that have no option.
const (
	mostDepth   = 1<<16 - 1 // of Options.MaxDepth: keeps stacks small
	elementSize = 64        // bytes that a field, or an element of a decoded value, takes in memory, about
	reusable    = 64 << 10  // elements of a slice that is kept for the next sample
)

// Options say what parts hold and what a sample is. The zero value reads CBOR and
// makes a field of each entry of a map.
type Options struct {
	// MessagePack says that the parts are MessagePack objects, not CBOR.
	MessagePack bool

	// Items makes each item a sample of one field, ItemField: the item's own bytes,
	// unchanged. An item that is a map with the entry "__key__", both text of definite
	// length, has that key. All that is well-formed is accepted, any tag and extension.
	Items bool

	// MaxDepth limits how deep arrays, maps and tags may nest; at most 65,535.
	// 0: DefaultMaxDepth.
	MaxDepth int

	// MaxItem limits one item, in bytes. Read holds an item in memory, hence the limit.
	// So many bytes may its fields, and the elements of values that are decoded, take
	// in memory too, at 64 bytes each, but 4 MiB in any case. 0: DefaultMaxItem.
	MaxItem int64

	// MaxName limits a key, and the name of a field, in bytes. Index holds them in memory
	// where it does not hold the item. 0: DefaultMaxName.
	MaxName int64

	// Load reports whether Index is to read the bytes of a field too, since what its
	// record is depends on them. nil: none.
	Load func(field string) bool
}

// A Source is an opened list of parts. It holds no file open between calls.
type Source struct {
	parts   []converters.Part
	opts    Options
	forms   *forms
	open    func(converters.Part, converters.Access) (converters.File, error)
	readers sync.Pool // of *scanner
	slow    bool      // never quick, for tests to compare with
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Describer = (*Source)(nil)
	_ converters.Divisible = (*Source)(nil)
)

// Open returns the source that the parts make. It opens no file: Index and Read do,
// and check that each is still the file that the part describes.
func Open(parts []converters.Part, opts Options) *Source {
	if opts.MaxDepth <= 0 {
		opts.MaxDepth = DefaultMaxDepth
	}
	if opts.MaxItem <= 0 {
		opts.MaxItem = DefaultMaxItem
	}
	if opts.MaxName <= 0 {
		opts.MaxName = DefaultMaxName
	}
	opts.MaxDepth = min(opts.MaxDepth, mostDepth)
	opts.MaxItem = min(opts.MaxItem, math.MaxInt/4) // so that a buffer of half as much again can be had
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	s := &Source{parts: parts, opts: opts, forms: cborForms(), open: converters.Part.OpenFor}
	if opts.MessagePack {
		s.forms = messagePackForms()
	}
	return s
}

// Parts lists the parts in dataset order.
func (s *Source) Parts() []converters.Part { return s.parts }

// WithParts returns a source over other parts, read as these are.
func (s *Source) WithParts(_ int, parts []converters.Part) converters.Source {
	return &Source{parts: parts, opts: s.opts, forms: s.forms, open: s.open, slow: s.slow}
}

// Describe says that a record is an item's own bytes where the user does not say
// otherwise. The source is to be opened with Options.Items then.
func (s *Source) Describe() converters.Description {
	return converters.Description{Encoding: "raw"}
}
