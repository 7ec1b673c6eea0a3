package parquet

// Repetitions of an element.
const (
	required = iota
	optional
	repeated
)

// Converted types, the older form of logical types.
const (
	convertedUTF8 = iota
	convertedMap
	convertedMapKeyValue
	convertedList
	convertedEnum
	convertedDecimal
	convertedDate
	convertedTimeMillis
	convertedTimeMicros
	convertedTimestampMillis
	convertedTimestampMicros
	convertedUint8
	convertedUint16
	convertedUint32
	convertedUint64
	convertedInt8
	convertedInt16
	convertedInt32
	convertedInt64
	convertedJSON
	convertedBSON
	convertedInterval
)

// Logical types, by their number in the union.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalNull      = 11
	logicalJSON      = 12
	logicalUUID      = 14
	logicalFloat16   = 15
)

// An element is a row of the schema, which lists a tree in depth-first order.
type element struct {
	name       string
	physical   int32 // −1: a group
	length     int32 // of typeFixed, bytes
	repetition int32 // required, optional, repeated
	children   int32
	converted  int32 // −1: none
	scale      int32 // of a decimal
	logical    logical
}

// A logical type, as in the union LogicalType.
type logical struct {
	kind   int   // number of its field in the union; 0: none
	bits   int32 // width of an integer
	signed bool  // of an integer
	unit   int   // of a time: 1 ms, 2 µs, 3 ns
	scale  int32 // of a decimal
}

// is reports whether an element has a logical type, in its new form or as a converted type.
func (e *element) is(kind int, converted int32) bool {
	return e.logical.kind == kind || e.logical.kind == 0 && e.converted == converted
}
