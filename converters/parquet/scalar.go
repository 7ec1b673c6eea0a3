package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/x448/float16"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A scalar is a conversion from the stored value of a leaf to its value.
type scalar uint8

const (
	scalarBytes      scalar = iota
	scalarText              // UTF-8
	scalarBool              //
	scalarInt               // signed
	scalarUint32            // also 8 and 16 bits
	scalarUint64            //
	scalarFloat             // 32 bits
	scalarDouble            //
	scalarHalf              // 2 bytes
	scalarDecimal           // a number, to text
	scalarBigDecimal        // big-endian bytes, to text
	scalarUUID              // 16 bytes, to text
	scalarInt96             // a time, to nanoseconds since 1970
	scalarSparkTime         // INT96 of Spark, whose times are microseconds and exceed the year 290,000
)

// units are numpy's names for units of time.
var units = [...]string{"", "ms", "us", "ns"}

// setScalar sets the conversion. If the logical type is unknown, the physical type decides.
func (l *leaf) setScalar(e element) error {
	unit := func(converted ...int32) string { // of a time: from the logical type, or from the converted types for ms and µs
		for i, c := range converted {
			if e.logical.kind == 0 && e.converted == c {
				return units[1+i]
			}
		}
		return units[min(max(e.logical.unit, 0), 3)]
	}
	whole := l.physical == typeInt32 || l.physical == typeInt64
	switch {
	case e.converted == convertedInterval && e.logical.kind == 0:
		return fmt.Errorf("%w: column %q has intervals of months, days and milliseconds", converters.ErrUnsupported, l.path)
	case e.is(logicalDecimal, convertedDecimal):
		l.scalar, l.dtype, l.scale = scalarBigDecimal, "str", e.scale
		if e.logical.kind == logicalDecimal {
			l.scale = e.logical.scale
		}
		if whole {
			l.scalar = scalarDecimal
		}
		if l.scale < 0 || l.scale > 1<<10 || !whole && l.physical != typeBytes && l.physical != typeFixed {
			return fmt.Errorf("%w: column %q has decimals of type %d with %d digits behind the point", converters.ErrMalformed, l.path, l.physical, l.scale)
		}
	case whole && e.is(logicalDate, convertedDate):
		l.scalar, l.dtype = scalarInt, "datetime64[D]"
	case whole && (e.is(logicalTimestamp, convertedTimestampMillis) || e.is(logicalTimestamp, convertedTimestampMicros)):
		l.scalar, l.dtype = scalarInt, "datetime64["+unit(convertedTimestampMillis, convertedTimestampMicros)+"]"
	case whole && (e.is(logicalTime, convertedTimeMillis) || e.is(logicalTime, convertedTimeMicros)):
		l.scalar, l.dtype = scalarInt, "timedelta64["+unit(convertedTimeMillis, convertedTimeMicros)+"]"
	case whole:
		l.integer(e)
	case l.physical == typeBool:
		l.scalar, l.dtype = scalarBool, "bool"
	case l.physical == typeInt96:
		l.scalar, l.dtype = scalarInt96, "datetime64[ns]"
	case l.physical == typeFloat:
		l.scalar, l.dtype = scalarFloat, "float32"
	case l.physical == typeDouble:
		l.scalar, l.dtype = scalarDouble, "float64"
	case l.physical == typeFixed && e.logical.kind == logicalFloat16 && l.length == 2:
		l.scalar, l.dtype = scalarHalf, "float16"
	case l.physical == typeFixed && e.logical.kind == logicalUUID && l.length == 16:
		l.scalar, l.dtype = scalarUUID, "str"
	case e.is(logicalString, convertedUTF8) || e.is(logicalEnum, convertedEnum) || e.is(logicalJSON, convertedJSON):
		l.scalar, l.dtype = scalarText, "str"
	default:
		l.scalar, l.dtype = scalarBytes, "bytes"
	}
	return nil
}

// integer sets the conversion of plain integers.
func (l *leaf) integer(e element) {
	bits, signed := 64, true
	if l.physical == typeInt32 {
		bits = 32
	}
	switch {
	case e.logical.kind == logicalInteger:
		bits, signed = int(e.logical.bits), e.logical.signed
	case e.logical.kind != 0:
	case e.converted >= convertedUint8 && e.converted <= convertedUint64:
		bits, signed = 8<<(e.converted-convertedUint8), false
	case e.converted >= convertedInt8 && e.converted <= convertedInt64:
		bits = 8 << (e.converted - convertedInt8)
	}
	switch {
	case signed:
		l.scalar, l.dtype = scalarInt, fmt.Sprintf("int%d", bits)
	case l.physical == typeInt32:
		l.scalar, l.dtype = scalarUint32, fmt.Sprintf("uint%d", bits)
	default:
		l.scalar, l.dtype = scalarUint64, fmt.Sprintf("uint%d", bits)
	}
}

// A datum is a stored value: a number, or bytes.
type datum struct {
	num  uint64 // two's complement of 64 bits, or the bits of a float of the leaf's size
	data []byte // nil if the bytes were not read
	size int64  // of the bytes
}

var errUTF8 = fmt.Errorf("%w: text that is not UTF-8", converters.ErrMalformed)

// value sets v to a datum that is not null. Copies of a Value took a third of the time of an index of numbers.
func (l *leaf) value(d *datum, v *converters.Value) (err error) {
	var n int64
	switch l.scalar {
	case scalarText:
		if !utf8.Valid(d.data) {
			return errUTF8
		}
		*v = converters.Text(d.data)
	case scalarBool:
		*v = converters.Nested(d.num != 0)
	case scalarInt:
		*v = converters.Int(int64(d.num))
	case scalarUint32:
		*v = converters.Int(int64(uint32(d.num)))
	case scalarUint64:
		if d.num > math.MaxInt64 {
			*v = converters.Nested(d.num)
		} else {
			*v = converters.Int(int64(d.num))
		}
	case scalarFloat:
		*v = converters.Float(float64(math.Float32frombits(uint32(d.num))))
	case scalarDouble:
		*v = converters.Float(math.Float64frombits(d.num))
	case scalarHalf:
		*v = converters.Float(float64(float16.Frombits(binary.LittleEndian.Uint16(d.data)).Float32()))
	case scalarDecimal:
		*v = converters.Text([]byte(columns.Decimal(big.NewInt(int64(d.num)), l.scale)))
	case scalarBigDecimal:
		if len(d.data) > 1<<10 {
			return fmt.Errorf("%w: a decimal of %d bytes", converters.ErrLimit, len(d.data))
		}
		*v = converters.Text([]byte(columns.Decimal(columns.TwosComplement(d.data), l.scale)))
	case scalarUUID:
		*v = converters.Text(columns.UUID(d.data))
	case scalarInt96:
		n, err = nanoseconds(d.data)
		*v = converters.Int(n)
	case scalarSparkTime:
		n, err = microseconds(d.data)
		*v = converters.Int(n)
	default:
		if *v = converters.Bytes(d.data); d.data == nil {
			*v = converters.Opaque(d.size)
		}
	}
	return err
}

// nanoseconds decodes the time of an INT96: the nanoseconds of a day, 8 bytes, and the Julian day, 4 bytes.
func nanoseconds(b []byte) (int64, error) {
	of, days := julian(b)
	if days < -106_751 || days > 106_750 || of < 0 || of > day {
		err := fmt.Errorf("%w: a time of day %d since 1970, beyond 64 bits of nanoseconds", converters.ErrUnsupported, days)
		return 0, place.WithHint(err, "leave the column out by option fields, or write it anew as a timestamp of microseconds")
	}
	return days*day + of, nil
}

// microseconds decodes the time of an INT96 of Spark. It computes modulo 2⁶⁴, since Spark writes negative days and
// nanoseconds for years after 284,000.
func microseconds(b []byte) (int64, error) {
	of, days := julian(b)
	if of <= -day || of > day || of%1000 != 0 {
		return 0, fmt.Errorf("%w: a time of Spark, %d ns behind the start of its day", converters.ErrMalformed, of)
	}
	return days*(day/1000) + of/1000, nil
}

const day = 86_400_000_000_000 // nanoseconds

// julian returns the parts of an INT96: nanoseconds within the day, and days since 1970.
func julian(b []byte) (of, days int64) {
	const epoch = 2_440_588 // Julian day of 1970-01-01
	return int64(binary.LittleEndian.Uint64(b)), int64(int32(binary.LittleEndian.Uint32(b[8:]))) - epoch
}
