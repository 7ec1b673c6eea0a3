// package ofrecord finds and reads the records of OFRecord files, the format of OneFlow's data loader.
//
//	src, err := ofrecord.Open(parts, tfrecord.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                   // large values are not read
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// A part is consecutive records, all numbers little-endian:
//
//	┌─────────────────┬────────┐
//	│ length i64, > 0 │ data   │
//	│ 8               │ length │
//	└─────────────────┴────────┘
//
// The data is an OFRecord (oneflow/core/record/record.proto): see package tfrecord for the samples that
// are made of them. There is no checksum: a changed byte is found only if it makes a record malformed.
//
// OneFlow reads the parts of a dataset as one stream, so two parts may share a record. A part that ends within a record
// looks truncated, and is refused unless Options.Continued is set.
package ofrecord

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tfrecord"
)

// Open returns a source with these parts. It reads the first records of the first part that has some, to infer which
// features are lists. Index and Read check that size and time of a file have not changed.
func Open(parts []converters.Part, opts tfrecord.Options) (converters.Source, error) {
	return tfrecord.OpenForm(&form, parts, opts, new(converters.Files).Open)
}

// form has the layout of a record, and the numbers of the lists of a feature in record.proto.
var form = tfrecord.Form{
	Head:   8,
	Flat:   true,
	Splits: true,
	Length: func(head []byte) (uint64, error) {
		n := int64(binary.LittleEndian.Uint64(head))
		if n <= 0 {
			return 0, fmt.Errorf("%w: a record of %d bytes", converters.ErrMalformed, n)
		}
		return uint64(n), nil
	},
	Kinds: []tfrecord.Kind{tfrecord.Bytes, tfrecord.Float32, tfrecord.Float64, tfrecord.Int32, tfrecord.Int64},
}
