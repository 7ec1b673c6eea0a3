package encode

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/ffconvert/ffconvert/converters"
)

// newCBORDecMode returns how CBOR is decoded. The counts of lists and maps need no limit
// of their own: they are checked against the bytes before anything is allocated.
func newCBORDecMode(maxDepth int) cbor.DecMode {
	mode, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:  maxDepth,
		MaxArrayElements: math.MaxInt32,
		MaxMapPairs:      math.MaxInt32,
		TagsMd:           cbor.TagsForbidden,
		BigIntDec:        cbor.BigIntDecodePointer,
		MapKeyByteString: cbor.MapKeyByteStringForbidden,
	}.DecMode()
	if err != nil {
		panic("encode: the options of the CBOR decoder clash: " + err.Error())
	}
	return mode
}

// cbor decodes one item of CBOR.
func (d *decoder) cbor(data []byte) (converters.Value, error) {
	var x any
	if err := d.cborDM.Unmarshal(data, &x); err != nil {
		return converters.Value{}, d.cborError(err)
	}
	x, err := normal(x)
	return valueOf(x), err
}

func (d *decoder) cborError(err error) error {
	var depth *cbor.MaxNestedLevelError
	var tag *cbor.TagsMdError
	var key *cbor.InvalidMapKeyTypeError
	switch {
	case errors.As(err, &depth):
		return d.tooDeep()
	case errors.As(err, &tag):
		return fmt.Errorf("%w: a CBOR tag", converters.ErrUnsupported)
	case errors.As(err, &key):
		return badKey()
	}
	return unexpected("CBOR", err)
}

func badKey() error {
	return fmt.Errorf("%w: the key of a map is neither text nor a number", converters.ErrUnsupported)
}

// normal returns a value decoded by the CBOR library in the forms that
// [converters.Nested] takes. Lists are changed in place.
func normal(x any) (any, error) {
	var err error
	switch x := x.(type) {
	case uint64:
		return smallest(x), nil
	case []any:
		for i := range x {
			if x[i], err = normal(x[i]); err != nil {
				return nil, err
			}
		}
	case map[any]any:
		m := make(map[any]any, len(x))
		for k, v := range x {
			if k, err = normal(k); err != nil {
				return nil, err
			}
			if m[k], err = normal(v); err != nil {
				return nil, err
			}
		}
		return textKeys(m), nil
	case *big.Int:
		return nil, fmt.Errorf("%w: an integer that does not fit into 64 bits", converters.ErrUnsupported)
	case cbor.SimpleValue:
		return nil, fmt.Errorf("%w: the CBOR simple value %d", converters.ErrUnsupported, x)
	}
	return x, nil
}

// smallest returns n as an int64, where it is one.
func smallest(n uint64) any {
	if n <= math.MaxInt64 {
		return int64(n)
	}
	return n
}

// textKeys returns m as a map[string]any, where it is one.
func textKeys(m map[any]any) any {
	text := make(map[string]any, len(m))
	for k, v := range m {
		name, ok := k.(string)
		if !ok {
			return m
		}
		text[name] = v
	}
	return text
}

// msgpack decodes one MessagePack object. The library reads the leaves only: by itself it
// would take any depth, allocate maps by what their heads claim, and keep the last of
// equal keys.
func (d *decoder) msgpack(data []byte) (converters.Value, error) {
	d.data = data
	d.reader.Reset(data)
	d.mp.Reset(&d.reader)
	x, err := d.msgpackValue(d.limits.MaxDepth)
	if err == nil && d.reader.Len() > 0 {
		err = malformed("%d bytes are behind the MessagePack object", d.reader.Len())
	}
	return valueOf(x), err
}

// msgpackValue decodes the next object; depth more lists and maps may be opened.
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

// msgpackBytes returns the bytes of a string where they are.
func (d *decoder) msgpackBytes() ([]byte, error) {
	n, err := d.mp.DecodeBytesLen()
	if err != nil || n > d.reader.Len() {
		return nil, unexpected("MessagePack", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	from := len(d.data) - d.reader.Len()
	_, err = d.reader.Seek(int64(n), io.SeekCurrent)
	return d.data[from : from+n : from+n], err
}

// msgpackCount checks the length of a list or a map against the bytes that are left, of
// which each element takes one at least.
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
	list := []any{} // it grows: lists within lists may all claim the bytes that are left
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
	m := map[any]any{}
	for range n {
		k, err := d.msgpackValue(depth - 1)
		if err != nil {
			return nil, err
		}
		switch k.(type) {
		case []byte, []any, map[string]any, map[any]any:
			return nil, badKey()
		}
		if _, ok := m[k]; ok {
			return nil, malformed("the key %.40q comes twice", fmt.Sprint(k))
		}
		if m[k], err = d.msgpackValue(depth - 1); err != nil {
			return nil, err
		}
	}
	return textKeys(m), nil
}
