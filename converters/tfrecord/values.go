package tfrecord

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A collector has the values of one feature.
type collector struct {
	name  *name
	count int64
	first converters.Value
	all   []any // if the feature is a list
}

// feature consumes a feature and returns its value, its list, or null if it has no list of any kind.
func (s *scanner) feature(n *name, end int64) (converters.Value, error) {
	c := collector{name: n}
	kind := valueKind(255)
	err := s.each(end, func(num protowire.Number, typ protowire.Type) (bool, error) {
		if int(num) > len(s.form.Kinds) {
			return false, nil
		}
		to, err := s.submessage(num, typ, end)
		switch {
		case err != nil:
			return true, err
		case kind != 255:
			return true, s.malformed("feature %q has two lists", n.text)
		}
		kind = s.form.Kinds[num-1]
		return true, s.values(&c, kind, to)
	})
	switch {
	case err != nil:
		return converters.Value{}, err
	case kind == 255:
		return converters.Nested(nil), nil
	case s.counting:
		n.saw(kind, c.count, n.step)
		return converters.Value{}, nil
	case n.list && c.all == nil:
		return converters.Nested([]any{}), nil
	case n.list:
		return converters.Nested(c.all), nil
	case c.count != 1:
		return converters.Value{}, s.fail(fmt.Errorf("feature %q: %w: it has %s, and is %s", n.text, converters.ErrUnsupported, text.Count(c.count, "value"), s.rule.why()), s.rule.hint(n.text))
	}
	return c.first, nil
}

// list consumes the features of a feature list and returns a list of what feature makes of each.
func (s *scanner) list(n *name, end int64) (converters.Value, error) {
	if n.text == converters.KeyField {
		return converters.Value{}, s.fail(fmt.Errorf("%w: a feature list named %q", converters.ErrUnsupported, converters.KeyField), hintWhole)
	}
	all := []any{}
	err := s.each(end, func(num protowire.Number, typ protowire.Type) (bool, error) {
		if num > 1 {
			return false, nil
		}
		to, err := s.submessage(num, typ, end)
		if err != nil {
			return true, err
		}
		if s.elements++; s.elements > s.most {
			return true, s.crowded()
		}
		n.step = true
		v, err := s.feature(n, to)
		n.step = false
		if err == nil && !s.counting {
			all = append(all, plain(&v))
		}
		return true, err
	})
	return converters.Nested(all), err
}

// plain returns what a value holds.
func plain(v *converters.Value) any {
	switch v.Kind() {
	case converters.KindBytes:
		return v.Data()
	case converters.KindInt:
		return v.Int()
	case converters.KindFloat:
		return v.Float()
	}
	return v.Nested()
}

// values consumes a list of one kind.
func (s *scanner) values(c *collector, kind valueKind, end int64) error {
	return s.each(end, func(num protowire.Number, typ protowire.Type) (bool, error) {
		switch {
		case num > 1:
			return false, nil
		case kind == kindBytes && typ == protowire.BytesType:
			return true, s.opaque(c, end)
		case kind != kindBytes && typ == wireTypes[kind]:
			return true, s.number(c, kind, end)
		case kind != kindBytes && typ == protowire.BytesType:
			return true, s.packed(c, kind, end)
		}
		return true, s.malformed("a value of %v has wire type %d", kind, typ)
	})
}

// wireTypes are the types of numbers that are not packed.
var wireTypes = [...]protowire.Type{
	kindFloat32: protowire.Fixed32Type, kindFloat64: protowire.Fixed64Type, kindInt32: protowire.VarintType, kindInt64: protowire.VarintType,
}

// opaque consumes a value of bytes. Index skips the one value of a feature unless it loads that. Bytes are copied if they
// are in a list, or if the window may move before the sample is complete.
func (s *scanner) opaque(c *collector, end int64) error {
	to, err := s.length(end)
	if err != nil {
		return err
	}
	n := to - s.Offset()
	listed := c.name.list || c.name.step
	if s.counting || !s.here && !listed && !c.name.load {
		s.Skip(n)
		return s.add(c, converters.Opaque(n))
	}
	b, err := s.bytes(n, end)
	if err != nil {
		return err
	}
	if !s.here || listed {
		b = append([]byte{}, b...)
	}
	return s.add(c, converters.Bytes(b))
}

// packed consumes numbers that are packed into one value.
func (s *scanner) packed(c *collector, kind valueKind, end int64) error {
	to, err := s.length(end)
	if err != nil {
		return err
	}
	if size := sizes[kind]; size > 0 && c.name.list && !s.counting {
		n := (to - s.Offset()) / size
		if n > s.most-s.elements {
			return s.crowded()
		}
		c.all = slices.Grow(c.all, int(n))
	}
	for s.Offset() < to {
		if err := s.number(c, kind, to); err != nil {
			return err
		}
	}
	return nil
}

// sizes are the bytes of numbers of one size.
var sizes = [...]int64{kindFloat32: 4, kindFloat64: 8, kindInt64: 0}

func (s *scanner) number(c *collector, kind valueKind, end int64) error {
	switch kind {
	case kindFloat32:
		b, err := s.bytes(4, end)
		if err != nil {
			return err
		}
		return s.add(c, converters.Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))))
	case kindFloat64:
		b, err := s.bytes(8, end)
		if err != nil {
			return err
		}
		return s.add(c, converters.Float(math.Float64frombits(binary.LittleEndian.Uint64(b))))
	}
	v, err := s.varint(end)
	if err != nil {
		return err
	}
	n := int64(v)
	if kind == kindInt32 {
		if n < math.MinInt32 || n > math.MaxUint32 {
			return s.malformed("%d as a number of 32 bits", n)
		}
		n = int64(int32(n)) // some writers do not extend the sign to 64 bits
	}
	return s.add(c, converters.Int(n))
}

func (s *scanner) add(c *collector, v converters.Value) error {
	if c.count++; c.count == 1 {
		c.first = v
	}
	if s.counting {
		return nil
	}
	if s.elements++; s.elements > s.most {
		return s.crowded()
	}
	if c.name.list {
		c.all = append(c.all, plain(&v))
	}
	return nil
}
