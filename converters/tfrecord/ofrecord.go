package tfrecord

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// OpenOFRecord returns a source of OFRecord files, the format of OneFlow's data loader. A part is consecutive records, all
// numbers little-endian:
//
//	┌─────────────────┬────────┐
//	│ length i64, > 0 │ data   │
//	│ 8               │ length │
//	└─────────────────┴────────┘
//
// The data is an OFRecord (oneflow/core/record/record.proto), a map of features. There is no checksum: a changed byte is
// found only if it makes a record malformed.
//
// OneFlow reads the parts of a dataset as one stream, so two parts may share a record. A part that ends within a record
// looks truncated, and is refused unless Options.Continued is set.
func OpenOFRecord(parts []converters.Part, opts Options) (converters.Source, error) {
	return openParts(&ofForm, parts, opts, new(converters.Files).Open)
}

// ofForm has the layout of a record, and the numbers of the lists of a feature in record.proto.
var ofForm = form{
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
	Kinds: []valueKind{kindBytes, kindFloat32, kindFloat64, kindInt32, kindInt64},
}
