package mds

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/x448/float16"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/place"
)

// value decodes a value of a column. It shares the memory of b, or is valid until the next sample.
func (r *reader) value(c *column, b []byte) (converters.Value, error) {
	switch c.kind {
	case utf8Text:
		if !utf8.Valid(b) {
			return converters.Value{}, fmt.Errorf("%w: it is not UTF-8", converters.ErrMalformed)
		}
		return converters.Text(b), nil
	case signed, unsigned, floats:
		return number(c.kind, b), nil
	case digits, decimals:
		return parsed(c.kind, string(b))
	case jsonText:
		return r.json(b)
	case array:
		file, err := r.appendArray(c, b)
		return converters.Bytes(file), err
	case list:
		items, err := listed(b, c.behind)
		return converters.Nested(items), err
	}
	return converters.Bytes(b), nil
}

// number decodes a little-endian number of its column's size.
func number(k kind, b []byte) converters.Value {
	var word [8]byte
	copy(word[:], b)
	n := binary.LittleEndian.Uint64(word[:])
	unused := 64 - 8*len(b)
	switch {
	case k == signed:
		return converters.Int(int64(n<<unused) >> unused)
	case k == unsigned && n > math.MaxInt64:
		return converters.Nested(n)
	case k == unsigned:
		return converters.Int(int64(n))
	case len(b) == 2:
		return converters.Float(float64(float16.Frombits(uint16(n)).Float32()))
	case len(b) == 4:
		return converters.Float(float64(math.Float32frombits(uint32(n))))
	}
	return converters.Float(math.Float64frombits(n))
}

// parsed parses the text of a number, as Python's int or float writes it.
func parsed(k kind, s string) (converters.Value, error) {
	if len(s) > 400 || strings.ContainsAny(s, "_xXpP") { // Python does not write these
		return converters.Value{}, fmt.Errorf("%w: %.40q is not a decimal number", converters.ErrMalformed, s)
	}
	var v converters.Value
	var err error
	if k == decimals {
		var x float64
		x, err = strconv.ParseFloat(s, 64)
		v = converters.Float(x)
	} else {
		var n int64
		if n, err = strconv.ParseInt(s, 10, 64); errors.Is(err, strconv.ErrRange) {
			if u, err := strconv.ParseUint(s, 10, 64); err == nil {
				return converters.Nested(u), nil
			}
		}
		v = converters.Int(n)
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return v, fmt.Errorf("%w: %.40q does not fit into 64 bits", converters.ErrUnsupported, s)
	case err != nil:
		return v, fmt.Errorf("%w: %.40q is not a decimal number", converters.ErrMalformed, s)
	}
	return v, nil
}

func (r *reader) json(b []byte) (converters.Value, error) {
	if int64(len(b)) > cmp.Or(r.src.opts.MaxJSON, 16<<20) {
		return converters.Value{}, place.WithHint(fmt.Errorf("%w: it has %d bytes", converters.ErrLimit, len(b)), "raise option max-decode-size")
	}
	if r.decode == nil {
		r.decode = jsonvalue.New(r.src.opts.MaxDepth)
	}
	return r.decode(b)
}

// listed returns the items of a list as slices of b.
//
//	┌──────────────┬─────────────┬────────────────┬───────┐
//	│ unused       │ count (u32) │ sizes          │ items │
//	│ behind bytes │ 4           │ u32 × count    │       │
//	└──────────────┴─────────────┴────────────────┴───────┘
func listed(b []byte, behind int) ([]any, error) {
	wrong := fmt.Errorf("%w: the sizes of the items of a list", converters.ErrMalformed)
	if len(b) < behind+4 {
		return nil, wrong
	}
	n := int64(binary.LittleEndian.Uint32(b[behind:]))
	b = b[behind+4:]
	if n > int64(len(b))/4 {
		return nil, wrong
	}
	sizes, data := b[:4*n], b[4*n:]
	items := make([]any, 0, n)
	for ; len(sizes) > 0; sizes = sizes[4:] {
		size := int64(binary.LittleEndian.Uint32(sizes))
		if size > int64(len(data)) {
			return nil, wrong
		}
		items, data = append(items, data[:size:size]), data[size:]
	}
	if len(data) > 0 {
		return nil, wrong
	}
	return items, nil
}
