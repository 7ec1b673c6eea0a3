// Package tar finds and reads the samples of WebDataset tars.
//
// A sample is a group of consecutive members that share a key, the member's path up
// to the first dot of its base name; what follows that dot names the field:
//
//	src := tar.Open(parts, tar.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                  // a.jpg 7,312 bytes, a.cls 1 byte
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// A tar is a row of 512-byte blocks (POSIX.1-2017, pax; GNU tar manual, "Basic Tar Format"):
//
//	┌─────────────────────────────┬─────────────────────────┬───────┬────────────────┬─────────┐
//	│ metadata of the next member │ header                  │ bytes │ zeros to 512·k │ … more  │
//	│ x, g (PAX), L, K (GNU)      │ 512                     │ size  │                │ members │
//	└─────────────────────────────┴─────────────────────────┴───────┴────────────────┴─────────┘
//	┌──────────┬──────────┬─────────────────┐
//	│ zeros    │ zeros    │ zeros, any      │   the end: two blocks at least
//	│ 512      │ 512      │ number          │
//	└──────────┴──────────┴─────────────────┘
//
//	header:   0 name 100 · 100 mode 8 · 108 uid 8 · 116 gid 8 · 124 size 12 · 136 mtime 12
//	        148 checksum 8 · 156 type 1 · 157 link name 100 · 257 magic 6 · 263 version 2
//	        265 user 32 · 297 group 32 · 329 device major 8 · 337 minor 8 · 345 prefix 155
//
// The checksum is the sum of the header's 512 bytes, its own eight counted as spaces. It
// covers no payload: a tar cannot show that a payload was damaged, and neither can we.
//
// What two common readers (GNU tar, Python's tarfile, bsdtar) read differently is
// refused, and so is a tar that does not end as a tar ends: they lose members in silence.
package tar

import (
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// What Options have where they are zero, bytes.
const (
	DefaultMaxSample = 1 << 30
	DefaultMaxHeader = 1 << 20
)

// maxBuffer is the largest limit of Options, bytes: it keeps the arithmetic on sizes far from overflow.
const maxBuffer = 1 << 40

// Options relax what a source refuses. The zero value refuses all that loses data
// in another reader.
type Options struct {
	// AllowMissingTrailer accepts a tar that ends at a member's boundary without the
	// two zero blocks that should follow. Each is reported as waived. A tar that is
	// cut anywhere else is refused all the same.
	AllowMissingTrailer bool

	// Concatenated reads on behind the zero blocks where another tar was appended.
	// Each is reported as waived. A sample never reaches from one into the next.
	Concatenated bool

	// KeepDuplicates accepts a key that comes back later in the same part, as
	// another sample. Each is reported as waived.
	KeepDuplicates bool

	// Load names the fields whose bytes Index reads too, because what becomes of them
	// decides the size of a record. nil: none.
	Load func(field string) bool

	// MaxSample limits one sample, in bytes: the payload of its members and 512 for
	// each of them. Read holds a sample in memory, hence the limit. 0: DefaultMaxSample.
	MaxSample int64

	// MaxHeader limits a PAX header and a GNU long name, in bytes: each is held in memory
	// whole. A path is at most 4 KiB on Linux; the rest is room for extended attributes,
	// which are at most 64 KiB each. 0: DefaultMaxHeader.
	MaxHeader int64
}

// A Source is an opened list of tars. It holds no file open between calls.
type Source struct {
	parts   []converters.Part
	opts    Options
	open    func(converters.Part, converters.Access) (converters.File, error)
	readers sync.Pool // of *reader
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Divisible = (*Source)(nil)
)

// Open returns the source that the parts make. It opens no file: Index and Read do,
// and check that each is still the file that the part describes.
func Open(parts []converters.Part, opts Options) *Source {
	if opts.MaxSample <= 0 {
		opts.MaxSample = DefaultMaxSample
	}
	if opts.MaxHeader <= 0 {
		opts.MaxHeader = DefaultMaxHeader
	}
	opts.MaxSample, opts.MaxHeader = min(opts.MaxSample, maxBuffer), min(opts.MaxHeader, maxBuffer)
	return &Source{parts: parts, opts: opts, open: converters.Part.OpenFor}
}

// Parts lists the tars in dataset order.
func (s *Source) Parts() []converters.Part { return s.parts }

// WithParts returns a source over other tars, read as these are.
func (s *Source) WithParts(_ int, parts []converters.Part) converters.Source {
	return &Source{parts: parts, opts: s.opts, open: s.open}
}
