package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// A Data reads the values of a pickle of plain data as this package writes it: protocol 4, each list and
// dict between its own mark and its end, a tuple of a length that is known, nothing remembered or imported. The methods return an error for
// any other pickle. They allocate nothing but text that Value returns.
//
//	d := pickle.NewData(b)
//	n, err := d.Value() // a number, text, …, or List or Dict, after which the elements follow
type Data struct {
	b      []byte
	Offset int // bytes that were read
}

// A Token is the begin or the end of a list or a dict.
type Token byte

// The tokens. After BeginDict keys and values follow in turn.
const (
	BeginList Token = EmptyList
	EndList   Token = Appends
	BeginDict Token = EmptyDict
	EndDict   Token = SetItems
	End       Token = Stop
)

// ErrData reports a pickle that this package has not written.
var ErrData = fmt.Errorf("not a pickle of plain data as ffconvert writes it")

// NewData begins to read a pickle.
func NewData(b []byte) (*Data, error) {
	d := &Data{b: b}
	if head, err := d.take(2); err != nil || head[0] != proto || head[1] != 4 {
		return nil, d.fail("it does not begin with protocol 4")
	}
	return d, nil
}

// BeginTuple reads what comes before the n values of a tuple, EndTuple what comes after them. Value refuses a tuple: a
// caller that expects one must know its length.
func (d *Data) BeginTuple(n int) error { return d.expect(BeginTuple(nil, n), n) }

// EndTuple reads what comes after the n values of a tuple.
func (d *Data) EndTuple(n int) error { return d.expect(EndTuple(nil, n), n) }

func (d *Data) expect(ops []byte, n int) error {
	got, err := d.take(uint64(len(ops)))
	if err == nil && !slices.Equal(got, ops) {
		d.Offset -= len(ops)
		err = d.fail("no tuple of %d", n)
	}
	return err
}

func (d *Data) fail(format string, args ...any) error {
	return fmt.Errorf("%w: %s at byte %d", ErrData, fmt.Sprintf(format, args...), d.Offset)
}

// Value reads the next value: nil, bool, int64, uint64 above [math.MaxInt64], float64, string, []byte (a
// slice of the pickle), or a Token.
func (d *Data) Value() (any, error) {
	op, err := d.take(1)
	if err != nil {
		return nil, err
	}
	switch op[0] {
	case None:
		return nil, nil
	case opTrue, opFalse:
		return op[0] == opTrue, nil
	case binInt, binInt1, binInt2, long1:
		return d.integer(op[0])
	case binFloat:
		b, err := d.take(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	case shortBinUnicode, binUnicode, binUnicode8:
		b, err := d.payload(op[0], shortBinUnicode, binUnicode)
		if err == nil && !utf8.Valid(b) {
			err = d.fail("text that is not UTF-8")
		}
		return string(b), err
	case shortBinBytes, binBytes, binBytes8:
		return d.payload(op[0], shortBinBytes, binBytes)
	case EmptyList, EmptyDict:
		if mark, err := d.take(1); err != nil || mark[0] != Mark {
			return nil, d.fail("no mark after a list or a dict")
		}
		return Token(op[0]), nil
	case Appends, SetItems:
		return Token(op[0]), nil
	case Stop:
		if d.Offset != len(d.b) {
			return nil, d.fail("%d bytes follow its end", len(d.b)-d.Offset)
		}
		return End, nil
	}
	return nil, d.fail("opcode 0x%02x", op[0])
}

func (d *Data) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)-d.Offset) {
		return nil, d.fail("it ends too early")
	}
	b := d.b[d.Offset : d.Offset+int(n) : d.Offset+int(n)]
	d.Offset += int(n)
	return b, nil
}

// uint reads a little-endian number of n bytes.
func (d *Data) uint(n uint64) (x uint64, err error) {
	b, err := d.take(n)
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x, err
}

// payload reads bytes or text, with a length of 1, 4 or 8 bytes as the opcode says.
func (d *Data) payload(op, op1, op4 byte) ([]byte, error) {
	width := uint64(8)
	switch op {
	case op1:
		width = 1
	case op4:
		width = 4
	}
	n, err := d.uint(width)
	if err != nil {
		return nil, err
	}
	return d.take(n)
}

func (d *Data) integer(op byte) (any, error) {
	width := uint64(4)
	switch op {
	case binInt1:
		width = 1
	case binInt2:
		width = 2
	case long1:
		n, err := d.uint(1)
		if err != nil {
			return nil, err
		}
		width = n
	}
	if width < 9 {
		x, err := d.uint(width)
		if op == binInt {
			x = uint64(int64(int32(x)))
		}
		if op == long1 && width < 8 {
			err = d.fail("an int of %d bytes", width)
		}
		return int64(x), err
	}
	x, err := d.uint(8)
	if sign, more := d.uint(1); err != nil || more != nil || width != 9 || sign != 0 || x <= math.MaxInt64 {
		return nil, d.fail("an int that does not fit into 64 bits")
	}
	return x, nil
}
