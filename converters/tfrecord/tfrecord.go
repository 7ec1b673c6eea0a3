// Package tfrecord finds and reads the records of TFRecord files, TensorFlow's Examples and SequenceExamples, and those of
// OneFlow's OFRecord files, which have another frame around the same features: see [OpenOFRecord].
//
//	src, err := tfrecord.Open(parts, tfrecord.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                   // large values are not read
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// A part is records one behind the other, all numbers little-endian:
//
//	┌────────────┬────────────────────┬────────┬──────────────────┐
//	│ length u64 │ CRC of the length  │ data   │ CRC of the data  │
//	│ 8          │ 4                  │ length │ 4                │
//	└────────────┴────────────────────┴────────┴──────────────────┘
//
// A CRC is CRC-32C, rotated right by 15 bits, plus 0xa282ead8. The CRC of the length is always compared, the CRC of the
// data wherever all data is read: by Read, and by Index for small records.
//
// The data is a message with a map of features (tensorflow/core/example; field numbers, protobuf's wire format):
//
//	data          Example or SequenceExample        OFRecord: the record
//	              1 features · 2 feature lists      1 an entry of the map, repeated
//	features      1 an entry of the map, repeated
//	entry         1 the name · 2 the feature; of feature lists, 2 has features, each under 1
//	feature       one list, whose number tells the kind of its values: form.kinds
//	list          1 a value, repeated, or many packed into one
//
// A feature that has one value in each sample is that value, another feature is a list: see [Options]. The fields of a sample
// are in the order of their names, because a map has none.
package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/ffconvert/ffconvert/converters"
)

// Open returns a source with these parts. It reads the first records of the first part that has some, to find out
// which features are lists. Index and Read check that size and time of a file have not changed.
func Open(parts []converters.Part, opts Options) (converters.Source, error) {
	return openParts(&exampleForm, parts, opts, new(converters.Files).Open)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is added so that data with a checksum in it does not have a simple checksum (TensorFlow's
// core/lib/hash/crc32c.h).
const maskDelta = 0xa282ead8

// masked returns the checksum of data as a file has it.
func masked(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + maskDelta
}

// exampleForm has the layout of a record, and the numbers of the lists of a feature in example.proto.
var exampleForm = form{
	Head:    12,
	Trailer: 4,
	Length: func(head []byte) (uint64, error) {
		if masked(head[:8]) != binary.LittleEndian.Uint32(head[8:]) {
			return 0, fmt.Errorf("%w: the checksum of the length is wrong", converters.ErrMalformed)
		}
		return binary.LittleEndian.Uint64(head), nil
	},
	Check: func(data, trailer []byte) error {
		if masked(data) != binary.LittleEndian.Uint32(trailer) {
			return fmt.Errorf("%w: the checksum of the data is wrong", converters.ErrMalformed)
		}
		return nil
	},
	Kinds: []valueKind{kindBytes, kindFloat32, kindInt64},
}
