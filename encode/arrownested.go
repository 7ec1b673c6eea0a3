package encode

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ffconvert/ffconvert/converters"
)

// arrowDepth is how deep columns nest; Arrow's reader in Go stops at 64.
const arrowDepth = 60

// mostNulls is the largest number of values of a column that takes no bytes: more are refused when a record is decoded, since a
// few bytes may claim any number.
const mostNulls = 1 << 16

// vector appends the nodes and buffers of a column of values, which nests depth deep, and returns its type: that of its
// values, which must be alike. Integers beside floats become floats if none loses digits.
func (a *arrowFormat) vector(values []any, depth int) (arrow.DataType, error) {
	if depth > arrowDepth {
		return nil, &hintedError{fmt.Errorf("%w: lists and maps are nested more than %d deep", converters.ErrLimit, arrowDepth), anyValueHint}
	}
	kind, nulls, err := kindOf(values)
	if err != nil {
		return nil, err
	}
	if kind == kindNull && len(values) > mostNulls {
		kind = kindBool
	}
	a.node(len(values), nulls)
	if kind == kindNull {
		return arrow.Null, nil
	}
	a.validity(values, nulls)
	switch kind {
	case kindBool:
		a.bits(len(values), func(i int) bool { return values[i] == true })
		return arrow.FixedWidthTypes.Boolean, nil
	case kindText, kindBytes:
		return a.texts(values, kind)
	case kindList:
		return a.lists(values, depth)
	case kindMap:
		return a.maps(values, depth)
	}
	return a.numbers(values, kind)
}

// validity appends the bits of values that are not null, or nothing if all are.
func (a *arrowFormat) validity(values []any, nulls int) {
	if nulls == 0 {
		a.buffer(nil)
		return
	}
	a.bits(len(values), func(i int) bool { return values[i] != nil })
}

func (a *arrowFormat) bits(n int, set func(i int) bool) {
	b := a.room((n + 7) / 8)[:(n+7)/8]
	clear(b)
	for i := range n {
		if set(i) {
			b[i/8] |= 1 << (i % 8)
		}
	}
	a.buffer(b)
}

func (a *arrowFormat) numbers(values []any, kind valueKind) (arrow.DataType, error) {
	b := a.room(8 * len(values))
	for _, x := range values {
		n := uint64(0)
		switch x := x.(type) {
		case int64:
			n = uint64(x)
			if kind == kindUint && x < 0 {
				return nil, unlikeValues("an integer below 0", "one of 64 bits")
			}
			if kind == kindFloat {
				if n = math.Float64bits(float64(x)); x < -1<<53 || x > 1<<53 {
					return nil, unlikeValues("an integer of more than 53 bits", "a float")
				}
			}
		case uint64:
			n = x
		case float64:
			n = math.Float64bits(x)
		}
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	a.buffer(b)
	switch kind {
	case kindUint:
		return arrow.PrimitiveTypes.Uint64, nil
	case kindFloat:
		return arrow.PrimitiveTypes.Float64, nil
	}
	return arrow.PrimitiveTypes.Int64, nil
}

func (a *arrowFormat) texts(values []any, kind valueKind) (arrow.DataType, error) {
	size := func(x any) int {
		if s, ok := x.(string); ok {
			return len(s)
		}
		b, _ := x.([]byte)
		return len(b)
	}
	n, err := a.offsets(values, size)
	if err != nil {
		return nil, err
	}
	all := a.room(n)
	for _, x := range values {
		switch x := x.(type) {
		case string:
			all = append(all, x...)
		case []byte:
			all = append(all, x...)
		}
	}
	a.buffer(all)
	if kind == kindBytes {
		return arrow.BinaryTypes.Binary, nil
	}
	return arrow.BinaryTypes.String, nil
}

// offsets appends where each value begins and the last one ends, and returns that end.
func (a *arrowFormat) offsets(values []any, size func(any) int) (int, error) {
	b := binary.LittleEndian.AppendUint32(a.room(4*(len(values)+1)), 0)
	end := 0
	for _, x := range values {
		if end += size(x); end > math.MaxInt32 {
			return 0, &hintedError{fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB", converters.ErrLimit), "Options.Encoding msgpack holds more"}
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(end))
	}
	a.buffer(b)
	return end, nil
}

func (a *arrowFormat) lists(values []any, depth int) (arrow.DataType, error) {
	n, err := a.offsets(values, func(x any) int { l, _ := x.([]any); return len(l) })
	if err != nil {
		return nil, err
	}
	all := make([]any, 0, n)
	for _, x := range values {
		l, _ := x.([]any)
		all = append(all, l...)
	}
	t, err := a.vector(all, depth+1)
	if err != nil {
		return nil, err
	}
	return arrow.ListOf(t), nil
}

// maps appends maps: as structs if all have the same keys of text in the same order, else as Arrow's maps, whose keys
// and values each have one type.
func (a *arrowFormat) maps(values []any, depth int) (arrow.DataType, error) {
	if names, ok := commonKeys(values); ok && (len(names) > 0 || len(values) <= mostNulls) {
		return a.structs(values, names, depth)
	}
	n, err := a.offsets(values, func(x any) int { m, _ := x.(converters.Map); return len(m) })
	if err != nil {
		return nil, err
	}
	keys, items := make([]any, 0, n), make([]any, 0, n)
	for _, x := range values {
		m, _ := x.(converters.Map)
		for _, p := range m {
			if p.Key == nil {
				return nil, &hintedError{fmt.Errorf("%w: arrow has no map with a key that is null", converters.ErrUnsupported), anyValueHint}
			}
			keys, items = append(keys, p.Key), append(items, p.Value)
		}
	}
	a.node(n, 0) // the pairs, as structs
	a.buffer(nil)
	k, err := a.vector(keys, depth+2)
	if err != nil {
		return nil, fmt.Errorf("the keys of its maps: %w", err)
	}
	v, err := a.vector(items, depth+2)
	if err != nil {
		return nil, fmt.Errorf("the values of its maps, which have other keys each: %w", err)
	}
	return arrow.MapOf(k, v), nil
}

func (a *arrowFormat) structs(values []any, names []string, depth int) (arrow.DataType, error) {
	fields := make([]arrow.Field, len(names))
	column := make([]any, len(values))
	for i, name := range names {
		for j, x := range values {
			column[j] = nil
			if m, ok := x.(converters.Map); ok {
				column[j] = m[i].Value
			}
		}
		t, err := a.vector(column, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		fields[i] = arrow.Field{Name: name, Type: t, Nullable: true}
	}
	return arrow.StructOf(fields...), nil
}

// commonKeys returns the keys of all maps, if they are text and the same ones in the same order.
func commonKeys(values []any) (names []string, ok bool) {
	first := true
	for _, x := range values {
		m, is := x.(converters.Map)
		if !is {
			continue // null
		}
		if !first && len(m) != len(names) {
			return nil, false
		}
		for i, p := range m {
			name, text := p.Key.(string)
			if !text || !first && names[i] != name {
				return nil, false
			}
			if first {
				names = append(names, name)
			}
		}
		first = false
	}
	return names, true
}
