// package ffr reads FFRecord shards: shards of ffconvert, with the keys and labels of their indexes,
// and shards of other programs, with opaque records.
//
//	src := ffr.Open(parts, ffr.Options{})                // a record is copied unchanged
//	src := ffr.Open(parts, ffr.Options{Decode: …})      // or decoded into its fields
//
// Every record is compared with its CRC before it is yielded, so that a damaged record does not get a new, valid
// checksum.
package ffr

import (
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/record"
)

// Names of the fields of a sample that is a whole record.
const (
	RecordField = "record" // the bytes of the record
	labelField  = "cls"    // its label, an integer, if its index has one
)

// A Shard holds facts about a part that are not in its bytes. The zero value holds none.
type Shard struct {
	Index     string // path of its index; "": none
	IndexSize int64  // bytes
	IndexCRC  uint32 // CRC-32 of the whole index

	Samples   int64  // from the manifest of its dataset; 0: unknown
	HeaderCRC uint32 // from the manifest
}

// Options control how shards are read. The zero value accepts any shard, and copies records.
type Options struct {
	// Shards has an entry for each part, or is nil.
	Shards []Shard

	// Decode, if not nil, makes samples of the decoded fields of records. It returns a decoder of a part's records, to be used by one
	// goroutine: Decode of a Decoder of package decode. Index then reads all payload, because the size of a new record depends on it.
	Decode func(part int) (func(record []byte) (*converters.Sample, error), error)

	// Load makes Index read all payload, even of records that are not decoded.
	Load bool

	// Description is the result of Source.Describe.
	Description converters.Description

	// Record has the limits of the shards.
	Record record.Options
}

// A Source is an opened list of shards. It holds no file open between calls.
type Source struct {
	*scan.Source
	first   int // number of part 0 in the dataset
	opts    Options
	open    scan.Opener
	finders *sync.Map // part → *sidecar.Finder: some 200 bytes per 8,192 rows
}

// Open returns a source with these parts. It does not open files. Index and Read open them, and check that size and
// time of the file have not changed.
func Open(parts []converters.Part, opts Options) *Source {
	return (Source{opts: opts, open: new(converters.Files).Open}).with(parts)
}

func (s Source) with(parts []converters.Part) *Source {
	s.finders = new(sync.Map)
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "sample", Reader: func() scan.Reader { return &reader{src: &s} },
		With: func(first int, parts []converters.Part) converters.Source { // Options have the numbers of parts in the whole dataset
			some := s
			some.first += first
			return some.with(parts)
		},
		Describe: func() converters.Description { return s.opts.Description },
	})
	return &s
}

// known returns the facts about a part.
func (s *Source) known(part int) Shard {
	if s.opts.Shards == nil {
		return Shard{}
	}
	return s.opts.Shards[s.first+part]
}
