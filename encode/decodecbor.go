package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/converters"
)

// newCBORDecMode returns the decoding mode. It does not limit the lengths of lists and maps, because
// each element takes at least one byte of the field, which has a limit.
func newCBORDecMode(maxDepth int) cbor.DecMode { return newCBORMode(maxDepth, cbor.TagsForbidden) }

// newCBORSkipMode returns the mode that accepts tags, for items that are not decoded.
func newCBORSkipMode(maxDepth int) cbor.DecMode { return newCBORMode(maxDepth, cbor.TagsAllowed) }

func newCBORMode(maxDepth int, tags cbor.TagsMode) cbor.DecMode {
	mode, err := cbor.DecOptions{
		MaxNestedLevels:  maxDepth,
		MaxArrayElements: math.MaxInt32,
		MaxMapPairs:      math.MaxInt32,
		TagsMd:           tags,
		BigIntDec:        cbor.BigIntDecodePointer,
	}.DecMode()
	if err != nil {
		panic("encode: the options of the CBOR decoder clash: " + err.Error())
	}
	return mode
}

// cbor decodes one CBOR item. The library checks that it is well-formed and decodes its leaves.
// Lists and maps are decoded here, because the library's maps do not keep their order.
func (d *decoder) cbor(data []byte) (converters.Value, error) {
	if err := d.cborDM.Wellformed(data); err != nil {
		return converters.Value{}, d.cborError(err)
	}
	x, _, err := d.cborValue(data)
	return converters.ValueOf(x), err
}

func (d *decoder) cborError(err error) error {
	var depth *cbor.MaxNestedLevelError
	var tag *cbor.TagsMdError
	switch {
	case errors.As(err, &depth):
		return d.tooDeep()
	case errors.As(err, &tag):
		return fmt.Errorf("%w: a CBOR tag", converters.ErrUnsupported)
	}
	return unexpected("CBOR", err)
}

func badKey() error {
	return fmt.Errorf("%w: the key of a map is neither text nor a number", converters.ErrUnsupported)
}

// isKey reports whether a value may be the key of a [converters.Map].
func isKey(x any) bool {
	switch x.(type) {
	case []byte, []any, converters.Map:
		return false
	}
	return true
}

const (
	cborUndefined = 7<<5 | 23
	cborBreak     = 7<<5 | 31
)

// cborValue decodes the first item of data, which must be well-formed, and returns the bytes after it.
func (d *decoder) cborValue(data []byte) (x any, rest []byte, err error) {
	switch first := data[0]; {
	case first >= cborMap && first <= cborMap|31:
		return d.cborMap(data)
	case first >= cborList && first <= cborList|31:
		return d.cborList(data)
	case first == cborUndefined:
		return nil, nil, fmt.Errorf("%w: the CBOR value undefined", converters.ErrUnsupported)
	}
	if rest, err = d.cborDM.UnmarshalFirst(data, &x); err != nil {
		return nil, nil, d.cborError(err)
	}
	switch n := x.(type) {
	case uint64:
		x = smallest(n)
	case *big.Int:
		err = fmt.Errorf("%w: an integer that does not fit into 64 bits", converters.ErrUnsupported)
	case cbor.SimpleValue:
		err = fmt.Errorf("%w: the CBOR simple value %d", converters.ErrUnsupported, n)
	}
	return x, rest, err
}

func (d *decoder) cborList(data []byte) (any, []byte, error) {
	list := []any{}
	n, rest := cborCount(data)
	for ; !cborEnds(n, rest); n-- {
		x, next, err := d.cborValue(rest)
		if err != nil {
			return nil, nil, err
		}
		list, rest = append(list, x), next
	}
	return list, cborBehind(n, rest), nil
}

func (d *decoder) cborMap(data []byte) (any, []byte, error) {
	var m converters.MapBuilder
	n, rest := cborCount(data)
	for ; !cborEnds(n, rest); n-- {
		k, next, err := d.cborValue(rest)
		if err != nil {
			return nil, nil, err
		}
		if !isKey(k) {
			return nil, nil, badKey()
		}
		x, next, err := d.cborValue(next)
		if err != nil {
			return nil, nil, err
		}
		if !m.Add(k, x) {
			return nil, nil, keyTwice(k)
		}
		rest = next
	}
	return m.Map(), cborBehind(n, rest), nil
}

// cborCount reads the head of a list or a map and returns the number of elements or pairs. It is
// negative if a break ends them (indefinite length).
func cborCount(data []byte) (n int64, rest []byte) {
	info := data[0] & 31
	switch {
	case info == 31:
		return -1, data[1:]
	case info < 24:
		return int64(info), data[1:]
	}
	size := 1 << (info - 24)
	var arg [8]byte
	copy(arg[8-size:], data[1:1+size])
	return int64(binary.BigEndian.Uint64(arg[:])), data[1+size:]
}

// cborEnds reports whether a list or a map with n elements left ends at the start of data.
func cborEnds(n int64, data []byte) bool { return n == 0 || n < 0 && data[0] == cborBreak }

// cborBehind returns the bytes after a list or a map that ends at the start of data.
func cborBehind(n int64, data []byte) []byte {
	if n < 0 {
		return data[1:]
	}
	return data
}
