package encode

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// vector appends the nodes and buffers of a column of values, whose type is that of their [arrowShape].
func (a *arrowForm) vector(values []any, t arrow.DataType) error {
	nulls := 0
	for _, x := range values {
		if x == nil {
			nulls++
		}
	}
	a.node(len(values), nulls)
	if t == arrow.Null {
		return nil
	}
	a.validity(values, nulls)
	switch t := t.(type) {
	case *arrow.BooleanType:
		a.bits(len(values), func(i int) bool { return values[i] == true })
		return nil
	case *arrow.StringType, *arrow.BinaryType:
		return a.texts(values)
	case *arrow.ListType:
		return a.lists(values, t)
	case *arrow.StructType:
		return a.structs(values, t)
	case *arrow.MapType:
		return a.maps(values, t)
	}
	a.numbers(values, t)
	return nil
}

// validity appends the bits of values that are not null, or nothing if all are.
func (a *arrowForm) validity(values []any, nulls int) {
	if nulls == 0 {
		a.buffer(nil)
		return
	}
	a.bits(len(values), func(i int) bool { return values[i] != nil })
}

func (a *arrowForm) bits(n int, set func(i int) bool) {
	b := a.room((n + 7) / 8)[:(n+7)/8]
	clear(b)
	for i := range n {
		if set(i) {
			b[i/8] |= 1 << (i % 8)
		}
	}
	a.buffer(b)
}

func (a *arrowForm) numbers(values []any, t arrow.DataType) {
	b := a.room(8 * len(values))
	for _, x := range values {
		n := uint64(0)
		switch x := x.(type) {
		case int64:
			if n = uint64(x); t == arrow.PrimitiveTypes.Float64 {
				n = math.Float64bits(float64(x))
			}
		case uint64:
			n = x
		case float64:
			n = math.Float64bits(x)
		}
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	a.buffer(b)
}

func (a *arrowForm) texts(values []any) error {
	size := func(x any) int {
		if s, ok := x.(string); ok {
			return len(s)
		}
		b, _ := x.([]byte)
		return len(b)
	}
	n, err := a.offsets(values, size)
	if err != nil {
		return err
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
	return nil
}

// offsets appends where each value begins and the last one ends, and returns that end.
func (a *arrowForm) offsets(values []any, size func(any) int) (int, error) {
	b := binary.LittleEndian.AppendUint32(a.room(4*(len(values)+1)), 0)
	end := 0
	for _, x := range values {
		if end += size(x); end > math.MaxInt32 {
			return 0, place.WithHint(fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB", converters.ErrLimit), "option encode msgpack holds more")
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(end))
	}
	a.buffer(b)
	return end, nil
}

func (a *arrowForm) lists(values []any, t *arrow.ListType) error {
	n, err := a.offsets(values, func(x any) int { l, _ := x.([]any); return len(l) })
	if err != nil {
		return err
	}
	all := make([]any, 0, n)
	for _, x := range values {
		l, _ := x.([]any)
		all = append(all, l...)
	}
	return a.vector(all, t.Elem())
}

func (a *arrowForm) maps(values []any, t *arrow.MapType) error {
	n, err := a.offsets(values, func(x any) int { m, _ := x.(converters.Map); return len(m) })
	if err != nil {
		return err
	}
	keys, items := make([]any, 0, n), make([]any, 0, n)
	for _, x := range values {
		m, _ := x.(converters.Map)
		for _, p := range m {
			keys, items = append(keys, p.Key), append(items, p.Value)
		}
	}
	a.node(n, 0) // the pairs, as structs
	a.buffer(nil)
	if err := a.vector(keys, t.KeyType()); err != nil {
		return fmt.Errorf("the keys of its maps: %w", err)
	}
	if err := a.vector(items, t.ItemType()); err != nil {
		return fmt.Errorf("the values of its maps: %w", err)
	}
	return nil
}

func (a *arrowForm) structs(values []any, t *arrow.StructType) error {
	column := make([]any, len(values))
	for i, f := range t.Fields() {
		for j, x := range values {
			column[j] = nil
			if m, ok := x.(converters.Map); ok {
				column[j] = m[i].Value
			}
		}
		if err := a.vector(column, f.Type); err != nil {
			return fmt.Errorf("%q: %w", f.Name, err)
		}
	}
	return nil
}
