package tfrecord

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
)

// features makes fields of the features of the record whose data ends at an offset.
func (s *scanner) features(end int64) error {
	from := s.Offset()
	var err error
	if s.form.Flat {
		err = s.entries(end, false)
	} else {
		err = s.example(end)
	}
	switch {
	case err != nil:
		return err
	case s.known == 0 && s.unknown:
		return s.fail(fmt.Errorf("%w: none of its %d bytes are of a feature", converters.ErrMalformed, end-from), hintWhole)
	}
	return s.sort()
}

// example consumes an Example or a SequenceExample. An Example is a SequenceExample without feature lists.
func (s *scanner) example(end int64) error {
	return s.each(end, func(num protowire.Number, typ protowire.Type) (bool, error) {
		if num > 2 {
			return false, nil
		}
		to, err := s.submessage(num, typ, end)
		if err != nil {
			return true, err
		}
		return true, s.entries(to, num == 2)
	})
}

// submessage consumes the length of a message in a field and returns the offset of its end.
func (s *scanner) submessage(num protowire.Number, typ protowire.Type, end int64) (int64, error) {
	if typ != protowire.BytesType {
		return 0, s.malformed("field %d has wire type %d, want %d", num, typ, protowire.BytesType)
	}
	s.known++
	return s.length(end)
}

// entries consumes a map of features, or of feature lists. Its entries are messages under 1.
func (s *scanner) entries(end int64, lists bool) error {
	return s.each(end, func(num protowire.Number, typ protowire.Type) (bool, error) {
		if num > 1 {
			return false, nil
		}
		to, err := s.submessage(num, typ, end)
		if err != nil {
			return true, err
		}
		return true, s.mapEntry(to, lists)
	})
}

// mapEntry consumes an entry and makes it a field. Its value may come before its name.
func (s *scanner) mapEntry(end int64, lists bool) error {
	var n *name
	from, to := int64(-1), int64(-1) // of the value
	valued := false
	err := s.each(end, func(num protowire.Number, typ protowire.Type) (bool, error) {
		if num > 2 {
			return false, nil
		}
		stop, err := s.submessage(num, typ, end)
		switch {
		case err != nil:
		case num == 1 && n != nil, num == 2 && (valued || from >= 0):
			err = s.malformed("an entry with two names or two values")
		case num == 1:
			n, err = s.name(stop)
		case n == nil:
			from, to = s.Offset(), stop
			s.Skip(to - from)
		default:
			valued = true
			err = s.field(n, stop, lists)
		}
		return true, err
	})
	if err != nil || valued {
		return err
	}
	if n == nil {
		n = s.names.take(nil, s)
	}
	if from < 0 {
		return s.field(n, end, lists)
	}
	s.SeekBack(from)
	if err := s.field(n, to, lists); err != nil {
		return err
	}
	s.Skip(end - to)
	return nil
}

// name consumes the name of a feature.
func (s *scanner) name(end int64) (*name, error) {
	b, err := s.bytes(end-s.Offset(), end)
	if err != nil {
		return nil, err
	}
	if n, ok := s.names.known[string(b)]; ok {
		return n, nil
	}
	if !utf8.Valid(b) {
		return nil, s.malformed("a name that is not UTF-8")
	}
	return s.names.take(b, s), nil
}

// field consumes the value of an entry and makes it a field, or the key of the sample.
func (s *scanner) field(n *name, end int64, lists bool) error {
	if s.elements++; s.elements > s.most {
		return s.crowded()
	}
	value := (*scanner).feature
	if lists {
		value = (*scanner).list
	}
	v, err := value(s, n, end)
	if err != nil || s.counting {
		return err
	}
	if n.text == converters.KeyField {
		return s.key(v)
	}
	s.sample.Fields = append(s.sample.Fields, converters.Field{Name: n.text, Value: v})
	return nil
}

// key makes a value the key of the sample.
func (s *scanner) key(v converters.Value) error {
	switch {
	case v.Kind() != converters.KindBytes || !utf8.Valid(v.Data()):
		return s.fail(fmt.Errorf("%w: its %q is not one value of bytes that are UTF-8", converters.ErrMalformed, converters.KeyField), hintWhole)
	case s.keyed:
		return s.fail(fmt.Errorf("%w feature %q", converters.ErrDuplicate, converters.KeyField), hintWhole)
	}
	s.sample.Key, s.keyed = string(v.Data()), true
	return nil
}

// crowded refuses a record that would take too much memory when it is decoded.
func (s *scanner) crowded() error {
	return s.fail(fmt.Errorf("%w: the record has more than %d values, of %d bytes each in memory", converters.ErrLimit, s.most, elementSize), "option max-sample-size; "+hintWhole)
}
