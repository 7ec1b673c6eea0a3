package encode

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/ffconvert/ffconvert/converters"
)

// smallest returns n as an int64 if it fits, else as a uint64.
func smallest(n uint64) any {
	if n <= math.MaxInt64 {
		return int64(n)
	}
	return n
}

// msgpack decodes one MessagePack object. It uses the library for the leaves only, because the
// library accepts any depth, allocates maps of the length that their heads claim, and keeps the last
// of equal keys.
func (d *decoder) msgpack(data []byte) (converters.Value, error) {
	d.data = data
	d.reader.Reset(data)
	d.mp.Reset(&d.reader)
	x, err := d.msgpackValue(d.limits.MaxDepth)
	if err == nil && d.reader.Len() > 0 {
		err = malformed("%d bytes follow the MessagePack object", d.reader.Len())
	}
	return converters.ValueOf(x), err
}

// msgpackValue decodes the next object, in which lists and maps may be nested up to depth levels.
func (d *decoder) msgpackValue(depth int) (x any, err error) {
	code, err := d.mp.PeekCode()
	if err != nil {
		return nil, unexpected("MessagePack", err)
	}
	switch {
	case code <= msgpcode.PosFixedNumHigh || code >= msgpcode.Int8 && code <= msgpcode.Int64 || code >= msgpcode.NegFixedNumLow:
		x, err = d.mp.DecodeInt64()
	case code >= msgpcode.Uint8 && code <= msgpcode.Uint64:
		var n uint64
		n, err = d.mp.DecodeUint64()
		x = smallest(n)
	case code == msgpcode.Float || code == msgpcode.Double:
		x, err = d.mp.DecodeFloat64()
	case code == msgpcode.Nil:
		err = d.mp.DecodeNil()
	case code == msgpcode.False || code == msgpcode.True:
		x, err = d.mp.DecodeBool()
	case msgpcode.IsBin(code):
		return d.msgpackBytes()
	case msgpcode.IsString(code):
		b, err := d.msgpackBytes()
		if err == nil && !utf8.Valid(b) {
			err = malformed("text that is not UTF-8")
		}
		return string(b), err
	case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
		return d.msgpackList(depth)
	case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
		return d.msgpackMap(depth)
	case msgpcode.IsExt(code):
		return nil, fmt.Errorf("%w: a MessagePack extension", converters.ErrUnsupported)
	default:
		return nil, malformed("bad MessagePack: code 0x%02x", code)
	}
	if err != nil {
		return nil, unexpected("MessagePack", err)
	}
	return x, nil
}

// msgpackBytes returns the bytes of a string, as a slice of d.data.
func (d *decoder) msgpackBytes() ([]byte, error) {
	n, err := d.mp.DecodeBytesLen()
	if err != nil || n > d.reader.Len() {
		return nil, unexpected("MessagePack", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	from := len(d.data) - d.reader.Len()
	_, err = d.reader.Seek(int64(n), io.SeekCurrent)
	return d.data[from : from+n : from+n], err
}

// msgpackCount checks the length n of a list or a map. It cannot exceed the number of remaining
// bytes, because each element takes at least one.
func (d *decoder) msgpackCount(depth, n int, err error) error {
	switch {
	case err != nil:
		return unexpected("MessagePack", err)
	case depth == 0:
		return d.tooDeep()
	case n > d.reader.Len():
		return malformed("MessagePack ends too early")
	}
	return nil
}

func (d *decoder) msgpackList(depth int) (any, error) {
	n, err := d.mp.DecodeArrayLen()
	if err := d.msgpackCount(depth, n, err); err != nil {
		return nil, err
	}
	list := []any{} // not allocated by n: nested lists may all claim the same remaining bytes
	for range n {
		x, err := d.msgpackValue(depth - 1)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func (d *decoder) msgpackMap(depth int) (any, error) {
	n, err := d.mp.DecodeMapLen()
	if err := d.msgpackCount(depth, n, err); err != nil {
		return nil, err
	}
	var m converters.MapBuilder
	for range n {
		k, err := d.msgpackValue(depth - 1)
		if err != nil {
			return nil, err
		}
		if !isKey(k) {
			return nil, badKey()
		}
		x, err := d.msgpackValue(depth - 1)
		if err != nil {
			return nil, err
		}
		if !m.Add(k, x) {
			return nil, keyTwice(k)
		}
	}
	return m.Map(), nil
}
