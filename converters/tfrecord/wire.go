package tfrecord

import (
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	varintMax = 10  // bytes of the longest varint
	groupsMax = 100 // groups one inside the other, as protobuf's own readers allow
)

// each calls known for each field of the message that ends at an offset. known consumes the value, or returns
// false, and each skips it.
func (s *scanner) each(end int64, known func(protowire.Number, protowire.Type) (bool, error)) error {
	for s.Offset() < end {
		num, typ, err := s.tag(end)
		if err != nil {
			return err
		}
		ok, err := known(num, typ)
		if err == nil && !ok {
			s.unknown = true
			err = s.skip(num, typ, end, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tag consumes the number and the type of a field.
func (s *scanner) tag(end int64) (protowire.Number, protowire.Type, error) {
	v, err := s.varint(end)
	if err != nil {
		return 0, 0, err
	}
	num, typ := protowire.DecodeTag(v)
	if !num.IsValid() {
		return 0, 0, s.malformed("field number %d", v>>3)
	}
	return num, typ, nil
}

// varint consumes a number of variable size.
func (s *scanner) varint(end int64) (uint64, error) {
	left := end - s.Offset()
	if s.Unread() < varintMax {
		if err := s.Fill(int(min(varintMax, left))); err != nil {
			return 0, s.fail(err, "")
		}
	}
	b := s.Buf[s.Pos:]
	if int64(len(b)) > left {
		b = b[:left]
	}
	v, n := protowire.ConsumeVarint(b)
	switch {
	case n < 0 && left < varintMax:
		return 0, s.malformed("a number that does not end in its message")
	case n < 0:
		return 0, s.malformed("a number of more than 64 bits")
	}
	s.Pos += n
	return v, nil
}

// length consumes the size of a value and returns the offset of its end.
func (s *scanner) length(end int64) (int64, error) {
	n, err := s.varint(end)
	if err != nil {
		return 0, err
	}
	if left := end - s.Offset(); n > uint64(left) {
		return 0, s.malformed("a value of %d bytes in a message that has %d more", n, left)
	}
	return s.Offset() + int64(n), nil
}

// bytes returns the next n bytes, which the message must have, and consumes them. They are valid until the next call
// that reads.
func (s *scanner) bytes(n, end int64) ([]byte, error) {
	if left := end - s.Offset(); n > left {
		return nil, s.malformed("a value of %d bytes in a message that has %d more", n, left)
	}
	b, err := s.Peek(int(n))
	if err != nil {
		return nil, s.fail(err, "")
	}
	s.Pos += int(n)
	return b[:n:n], nil
}

// skip consumes the value of an unknown field.
func (s *scanner) skip(num protowire.Number, typ protowire.Type, end int64, depth int) (err error) {
	switch typ {
	case protowire.VarintType:
		_, err = s.varint(end)
	case protowire.Fixed32Type:
		_, err = s.bytes(4, end)
	case protowire.Fixed64Type:
		_, err = s.bytes(8, end)
	case protowire.BytesType:
		var to int64
		if to, err = s.length(end); err == nil {
			s.Skip(to - s.Offset())
		}
	case protowire.StartGroupType:
		err = s.skipGroup(num, end, depth+1)
	case protowire.EndGroupType:
		err = s.malformed("the end of a group that did not begin")
	default:
		err = s.malformed("wire type %d", typ)
	}
	return err
}

// skipGroup consumes fields up to the end of group num.
func (s *scanner) skipGroup(group protowire.Number, end int64, depth int) error {
	if depth > groupsMax {
		return s.malformed("more than %d groups one inside the other", groupsMax)
	}
	for s.Offset() < end {
		num, typ, err := s.tag(end)
		if err != nil {
			return err
		}
		if typ == protowire.EndGroupType && num == group {
			return nil
		}
		if err := s.skip(num, typ, end, depth); err != nil {
			return err
		}
	}
	return s.malformed("a group that does not end")
}
