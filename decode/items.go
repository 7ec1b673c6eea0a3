package decode

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/x448/float16"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// items reads data items of CBOR or MessagePack, which may be any bytes.
type items struct {
	name   string // of the encoding
	forms  *heads.Forms
	limits Limits       // with defaults filled in
	valid  cbor.DecMode // of CBOR: its errors are those of the library
}

// newMsgpack returns a reader of MessagePack, of limits with defaults filled in.
func newMsgpack(limits Limits) *items {
	return &items{name: "MessagePack", forms: heads.MessagePack, limits: limits}
}

// newCBOR returns a reader of CBOR, of limits with defaults filled in.
func newCBOR(limits Limits) *items {
	// Lengths of lists and maps have no limit, because each element takes at least one byte.
	valid, err := cbor.DecOptions{
		MaxNestedLevels: limits.MaxDepth, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32, TagsMd: cbor.TagsForbidden,
	}.DecMode()
	if err != nil {
		panic("decode: the options of the CBOR decoder clash: " + err.Error())
	}
	return &items{name: "CBOR", forms: heads.CBOR, limits: limits, valid: valid}
}

// field decodes a field that is one item.
func (t *items) field(data []byte) (converters.Value, error) {
	x, rest, err := t.value(data, t.limits.MaxDepth)
	if err == nil {
		err = t.end(rest)
	}
	return converters.ValueOf(x), t.worded(data, err)
}

// worded returns the error of data, if there is one. The words for what is no CBOR are those of the library.
func (t *items) worded(data []byte, err error) error {
	if err == nil || t.valid == nil {
		return err
	}
	malformed := t.valid.Wellformed(data)
	if malformed == nil {
		return err
	}
	if _, ok := errors.AsType[*cbor.MaxNestedLevelError](malformed); ok {
		return tooDeep(t.limits.MaxDepth)
	}
	if _, ok := errors.AsType[*cbor.TagsMdError](malformed); ok {
		return fmt.Errorf("%w: a CBOR tag", converters.ErrUnsupported)
	}
	return unexpected(t.name, malformed)
}

func (t *items) end(rest []byte) error {
	if len(rest) > 0 {
		return malformed("%d bytes follow the %s object", len(rest), t.name)
	}
	return nil
}

func (t *items) early() error { return malformed("%s ends too early", t.name) }

// head reads the head at the start of data.
func (t *items) head(data []byte) (h heads.Head, rest []byte, err error) {
	h, rest, ok := headOf(t.forms, data)
	if !ok {
		err = t.early()
	}
	return h, rest, err
}

// headOf reads the head at the start of data, if it is whole.
func headOf(t *heads.Forms, data []byte) (h heads.Head, rest []byte, ok bool) {
	if len(data) < heads.Max {
		return headAtEnd(t, data)
	}
	h = t.Parse(data)
	return h, data[h.Size:], true
}

func headAtEnd(t *heads.Forms, data []byte) (h heads.Head, rest []byte, ok bool) {
	var b [heads.Max]byte
	copy(b[:], data)
	if h = t.Parse(b[:]); len(data) == 0 || int(h.Size) > len(data) {
		return h, nil, false
	}
	return h, data[h.Size:], true
}

// bytes returns n bytes of data, and those after them.
func (t *items) bytes(data []byte, n uint64) (b, rest []byte, err error) {
	if n > uint64(len(data)) {
		return nil, nil, t.early()
	}
	return data[:n:n], data[n:], nil
}

// value decodes the item at the start of data, in which lists and maps may be nested up to depth levels: to nil, bool, int64,
// uint64 above [math.MaxInt64], float64, string, []byte, []any or converters.Map. Bytes are not copied.
func (t *items) value(data []byte, depth int) (x any, rest []byte, err error) {
	h, rest, err := t.head(data)
	if err != nil {
		return nil, nil, err
	}
	switch h.Kind {
	case heads.Bytes, heads.Text:
		return t.chunk(rest, h)
	case heads.ChunkedBytes:
		return t.chunks(rest, heads.Bytes)
	case heads.ChunkedText:
		return t.chunks(rest, heads.Text)
	case heads.Array, heads.OpenArray:
		return t.list(rest, h, depth)
	case heads.Map, heads.OpenMap:
		return t.object(rest, h, depth)
	case heads.Extension:
		return nil, nil, fmt.Errorf("%w: a MessagePack extension", converters.ErrUnsupported)
	case heads.Simple:
		if h.Arg == heads.Undefined {
			return nil, nil, fmt.Errorf("%w: the CBOR value undefined", converters.ErrUnsupported)
		}
		return nil, nil, fmt.Errorf("%w: the CBOR simple value %d", converters.ErrUnsupported, h.Arg)
	case heads.Tag, heads.Break, heads.Reserved:
		return nil, nil, malformed("bad %s: code 0x%02x", t.name, data[0])
	}
	x, err = scalar(h)
	return x, rest, err
}

// scalar returns the value of an item that consists of a head.
func scalar(h heads.Head) (any, error) {
	if h.Kind == heads.Float && h.Size == 3 { // the library keeps the bits of a NaN
		return float64(float16.Frombits(uint16(h.Arg)).Float32()), nil
	}
	v, err := h.Value()
	if err != nil {
		return nil, fmt.Errorf("%w: an integer that does not fit into 64 bits", converters.ErrUnsupported)
	}
	return v.Any(), nil
}

// chunk returns the string after its head.
func (t *items) chunk(data []byte, h heads.Head) (any, []byte, error) {
	b, rest, err := t.bytes(data, h.Arg)
	switch {
	case err != nil:
		return nil, nil, err
	case h.Kind == heads.Bytes:
		return b, rest, nil
	case !utf8.Valid(b):
		return nil, nil, malformed("text that is not UTF-8")
	}
	return string(b), rest, nil
}

// chunks joins strings of a kind up to a break.
func (t *items) chunks(data []byte, of heads.Kind) (any, []byte, error) {
	all := []byte{}
	for {
		h, rest, err := t.head(data)
		switch {
		case err != nil:
			return nil, nil, err
		case h.Kind == heads.Break && of == heads.Text:
			return string(all), rest, nil
		case h.Kind == heads.Break:
			return all, rest, nil
		case h.Kind != of:
			return nil, nil, malformed("a chunk that is not a string of its string's type")
		}
		x, rest, err := t.chunk(rest, h)
		switch x := x.(type) {
		case nil:
			return nil, nil, err
		case string:
			all = append(all, x...)
		case []byte:
			all = append(all, x...)
		}
		data = rest
	}
}

// enter checks that data may begin with the elements of a list or a map. There cannot be more than bytes, because each takes
// at least one.
func (t *items) enter(data []byte, h heads.Head, depth int) error {
	switch {
	case depth == 0:
		return tooDeep(t.limits.MaxDepth)
	case (h.Kind == heads.Array || h.Kind == heads.Map) && h.Arg > uint64(len(data)):
		return t.early()
	}
	return nil
}

// ends reports whether a list or a map of n elements so far ends at the start of data, and returns what follows it.
func ends(h heads.Head, n uint64, data []byte) (rest []byte, ok bool) {
	if h.Kind == heads.Array || h.Kind == heads.Map {
		return data, n == h.Arg
	}
	if ok = len(data) > 0 && data[0] == cborBreak; ok {
		data = data[1:]
	}
	return data, ok
}

// cborBreak ends lists and maps of any length.
const cborBreak = 7<<5 | 31

func (t *items) list(data []byte, h heads.Head, depth int) (any, []byte, error) {
	if err := t.enter(data, h, depth); err != nil {
		return nil, nil, err
	}
	list := []any{} // not allocated by Arg: nested lists may all claim the same bytes
	for {
		rest, ok := ends(h, uint64(len(list)), data)
		if ok {
			return list, rest, nil
		}
		x, rest, err := t.value(rest, depth-1)
		if err != nil {
			return nil, nil, err
		}
		list, data = append(list, x), rest
	}
}

func (t *items) object(data []byte, h heads.Head, depth int) (any, []byte, error) {
	if err := t.enter(data, h, depth); err != nil {
		return nil, nil, err
	}
	var m converters.MapBuilder
	for n := uint64(0); ; n++ {
		rest, ok := ends(h, n, data)
		if ok {
			return m.Map(), rest, nil
		}
		k, rest, err := t.value(rest, depth-1)
		if err != nil {
			return nil, nil, err
		}
		if !isKey(k) {
			return nil, nil, badKey()
		}
		x, rest, err := t.value(rest, depth-1)
		if err != nil {
			return nil, nil, err
		}
		if !m.Add(k, x) {
			return nil, nil, keyTwice(k)
		}
		data = rest
	}
}
