// package tar finds and reads the samples of WebDataset tars.
//
// A sample is a group of consecutive members with the same key. The key is the path of a member up to the
// first dot of its base name. The rest of the name, after that dot, names the field:
//
//	src := tar.Open(parts, tar.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                  // a.jpg 7,312 bytes, a.cls 1 byte
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// A tar is a sequence of 512-byte blocks (POSIX.1-2017, pax; GNU tar manual, "Basic Tar Format"):
//
//	┌─────────────────────────────┬─────────────────────────┬───────┬────────────────┬─────────┐
//	│ metadata of the next member │ header                  │ bytes │ zeros to 512·k │ … more  │
//	│ x, g (PAX), L, K (GNU)      │ 512                     │ size  │                │ members │
//	└─────────────────────────────┴─────────────────────────┴───────┴────────────────┴─────────┘
//	┌──────────┬──────────┬─────────────────┐
//	│ zeros    │ zeros    │ zeros, any      │   the end: at least two blocks
//	│ 512      │ 512      │ number          │
//	└──────────┴──────────┴─────────────────┘
//
//	header:   0 name 100 · 100 mode 8 · 108 uid 8 · 116 gid 8 · 124 size 12 · 136 mtime 12
//	        148 checksum 8 · 156 type 1 · 157 link name 100 · 257 magic 6 · 263 version 2
//	        265 user 32 · 297 group 32 · 329 device major 8 · 337 minor 8 · 345 prefix 155
//
// The checksum is the sum of the header's 512 bytes, with its own eight counted as spaces. It does not
// cover payload, so damage of a payload cannot be detected.
//
// The package refuses a tar that two common readers (GNU tar, Python's tarfile, bsdtar) read differently,
// and a tar without a proper end, because such readers lose members without an error.
package tar

import (
	"cmp"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Defaults of Options in bytes.
const (
	DefaultMaxSample = 1 << 30
	DefaultMaxHeader = 1 << 20
)

// maxBuffer is the upper bound of the limits in Options in bytes, so that sums of sizes cannot overflow.
const maxBuffer = 1 << 40

// Options accept more tars. The zero value refuses every tar from which another reader would lose data.
type Options struct {
	// AllowMissingTrailer accepts a tar that ends after a member without the two zero blocks.
	// Each is reported in an accepted Span. A tar that ends anywhere else is still refused.
	AllowMissingTrailer bool

	// Concatenated accepts another tar after the zero blocks. Each is reported in an accepted
	// Span. A sample does not continue in the next tar.
	Concatenated bool

	// KeepDuplicates accepts several samples with the same key. Each is reported in an accepted
	// Span.
	KeepDuplicates bool

	// Classes are the names of the classes of OpenNested; the index is the number. A tar with another name is refused.
	// nil: the names of all tars, in code-point order, unless there are labels. Empty: there are labels.
	Classes []string

	// Load reports whether Index must read the bytes of a field, because the size of the record
	// depends on them. nil: no field.
	Load func(field string) bool

	// MaxSample limits the size of a sample in bytes, because Read holds a sample in memory: the
	// payload of its members plus 512 for each. 0: DefaultMaxSample.
	MaxSample int64

	// MaxHeader limits the size of a PAX header and of a GNU long name in bytes, because each is held in memory. On
	// Linux a path has at most 4 KiB and an extended attribute 64 KiB. 0: DefaultMaxHeader.
	MaxHeader int64
}

// A source is an opened list of tars. It holds no file open between calls.
type source struct {
	*scan.Source
	opts     Options
	open     scan.Opener
	tarInTar *atomic.Bool // see Doubts
}

// Open returns a [converters.Source] with these parts, which is a Divisible, too. It does not open files. Index and Read
// open them, and check that size and time of the file have not changed.
func Open(parts []converters.Part, opts Options) *source {
	opts.MaxSample = cmp.Or(max(0, opts.MaxSample), DefaultMaxSample)
	opts.MaxHeader = cmp.Or(max(0, opts.MaxHeader), DefaultMaxHeader)
	opts.MaxSample, opts.MaxHeader = min(opts.MaxSample, maxBuffer), min(opts.MaxHeader, maxBuffer)
	return (source{opts: opts, open: new(converters.Files).Open}).with(parts)
}

func (s source) with(parts []converters.Part) *source {
	s.tarInTar = new(atomic.Bool)
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "sample", Reader: func() scan.Reader { return &reader{src: &s} },
		With:   func(_ int, parts []converters.Part) converters.Source { return s.with(parts) },
		Doubts: s.doubts,
	})
	return &s
}
