package encode

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

// arrowDepth is how deep columns nest; Arrow's reader in Go stops at 64.
const arrowDepth = 60

// An arrowShape describes the values of a column, from which its type follows. They must be alike: integers with
// floats become floats if none loses digits. Maps are a struct if all have the same keys of text in the same order, else
// Arrow's maps, whose keys and values each have one type.
type arrowShape struct {
	values int // how many there are, null or not
	kind   valueKind
	below  bool          // an integer is below 0
	wide   bool          // an integer has more than 53 bits
	maps   bool          // they are Arrow's maps
	names  []string      // of the fields of a struct
	of     []*arrowShape // the elements of lists; the fields of a struct; keys and values of maps
}

// add adds a value, which is nested depth deep. If fixed, it must not change the type.
func (s *arrowShape) add(x any, depth int, fixed bool) error {
	if depth > arrowDepth {
		return tooNested()
	}
	s.values++
	kind, err := kindOf(x)
	if err != nil || kind == kindNull {
		return err
	}
	first := s.kind == kindNull
	n, _ := x.(int64)
	if err := s.unite(kind, n < 0, n < -1<<53 || n > 1<<53, fixed); err != nil {
		return err
	}
	switch x := x.(type) {
	case []any:
		if first {
			s.of = []*arrowShape{{}}
		}
		for _, e := range x {
			if err := s.of[0].add(e, depth+1, fixed); err != nil {
				return err
			}
		}
	case converters.Map:
		return s.addMap(x, first, depth, fixed)
	}
	return nil
}

func tooNested() error {
	return place.WithHint(fmt.Errorf("%w: lists and maps are nested more than %d deep", converters.ErrLimit, arrowDepth), anyValueHint)
}

// unite adds values of a kind.
func (s *arrowShape) unite(kind valueKind, below, wide, fixed bool) error {
	low, high := min(kind, s.kind), max(kind, s.kind)
	below, wide = below || s.below, wide || s.wide
	switch {
	case low != high && low != kindNull && (low != kindInt || high != kindUint && high != kindFloat):
		return unlikeValues(kindNames[s.kind], kindNames[kind])
	case fixed && high != s.kind:
		return otherType(kindNames[s.kind], kindNames[kind])
	case high == kindUint && below:
		return unlikeValues("an integer below 0", "one of 64 bits")
	case high == kindFloat && wide:
		return unlikeValues("an integer of more than 53 bits", "a float")
	}
	s.kind, s.below, s.wide = high, below, wide
	return nil
}

// otherType reports a value that a column of a fixed type does not hold.
func otherType(was, is string) error {
	return place.WithHint(fmt.Errorf("%w: the first values have %s where this one has %s", converters.ErrUnsupported, was, is), anyValueHint)
}

func (s *arrowShape) addMap(m converters.Map, first bool, depth int, fixed bool) error {
	if names, ok := textKeys(m); !s.maps && (!ok || !first && !slices.Equal(names, s.names)) {
		if fixed {
			return otherType("maps with the same keys", "other keys, or in another order")
		}
		if err := s.toMaps(depth); err != nil {
			return err
		}
	} else if !s.maps && first {
		s.names = names
		for range names {
			s.of = append(s.of, &arrowShape{})
		}
	}
	for i, p := range m {
		if !s.maps {
			if err := s.of[i].add(p.Value, depth+1, fixed); err != nil {
				return fmt.Errorf("%q: %w", s.names[i], err)
			}
			continue
		}
		if p.Key == nil {
			return place.WithHint(fmt.Errorf("%w: arrow has no map with a key that is null", converters.ErrUnsupported), anyValueHint)
		}
		if err := s.of[0].add(p.Key, depth+2, fixed); err != nil {
			return fmt.Errorf("the keys of its maps: %w", err)
		}
		if err := s.of[1].add(p.Value, depth+2, fixed); err != nil {
			return fmt.Errorf("the values of its maps, which have other keys each: %w", err)
		}
	}
	return nil
}

// textKeys returns the keys of a map if they are text.
func textKeys(m converters.Map) (names []string, ok bool) {
	for _, p := range m {
		name, ok := p.Key.(string)
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// toMaps makes Arrow's maps of a struct.
func (s *arrowShape) toMaps(depth int) error {
	if s.maps {
		return nil
	}
	keys, items := &arrowShape{}, &arrowShape{}
	for i, name := range s.names {
		if err := keys.add(name, depth+2, false); err != nil {
			return err
		}
		if err := items.merge(s.of[i], depth+2); err != nil {
			return fmt.Errorf("the values of its maps, which have other keys each: %w", err)
		}
	}
	s.maps, s.names, s.of = true, nil, []*arrowShape{keys, items}
	return nil
}

// merge adds the values of o, which is not used any more.
func (s *arrowShape) merge(o *arrowShape, depth int) error {
	if depth > arrowDepth {
		return tooNested()
	}
	s.values += o.values
	if o.kind == kindNull {
		return nil
	}
	first := s.kind == kindNull
	if err := s.unite(o.kind, o.below, o.wide, false); err != nil {
		return err
	}
	below := depth + 1
	if s.kind == kindMap {
		switch {
		case first:
			s.maps, s.names = o.maps, o.names
		case s.maps || o.maps || !slices.Equal(s.names, o.names):
			if err := s.toMaps(depth); err != nil {
				return err
			}
			if err := o.toMaps(depth); err != nil {
				return err
			}
		}
		if s.maps {
			below++
		}
	}
	for i := range o.of {
		if first {
			s.of = append(s.of, &arrowShape{})
		}
		if err := s.of[i].merge(o.of[i], below); err != nil {
			return err
		}
	}
	return nil
}

// dataType returns the type of a column of so many values. All parts are nullable, so that types do not depend on nulls.
func (s *arrowShape) dataType(values int) arrow.DataType {
	switch s.kind {
	case kindNull:
		if values > decode.MostNulls {
			return arrow.FixedWidthTypes.Boolean
		}
		return arrow.Null
	case kindBool:
		return arrow.FixedWidthTypes.Boolean
	case kindInt:
		return arrow.PrimitiveTypes.Int64
	case kindUint:
		return arrow.PrimitiveTypes.Uint64
	case kindFloat:
		return arrow.PrimitiveTypes.Float64
	case kindText:
		return arrow.BinaryTypes.String
	case kindBytes:
		return arrow.BinaryTypes.Binary
	case kindList:
		return arrow.ListOf(s.of[0].dataType(s.of[0].values))
	}
	switch {
	case s.maps:
		return arrow.MapOf(s.of[0].dataType(s.of[0].values), s.of[1].dataType(s.of[1].values))
	case len(s.names) == 0 && values > decode.MostNulls:
		return arrow.MapOf(arrow.Null, arrow.Null)
	}
	fields := make([]arrow.Field, len(s.names))
	for i, name := range s.names {
		fields[i] = arrow.Field{Name: name, Type: s.of[i].dataType(values), Nullable: true}
	}
	return arrow.StructOf(fields...)
}
