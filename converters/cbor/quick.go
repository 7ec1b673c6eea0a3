package cbor

import "github.com/ffconvert/ffconvert/converters"

// quick makes samples of the next items, up to most, as item does, as long as they match patterns in the window. A mark
// matches none, since no pattern is learned from a mark.
func (s *scanner) quick(most int) (n int, err error) {
	if !s.quickly || s.missed {
		s.missed = false
		return 0, nil
	}
	if s.start = s.Offset(); s.Unread() < markHead {
		if err := s.fillMark(); err != nil {
			return 0, err
		}
	}
	for ; n < most; n++ {
		b := s.Buf[s.Pos:]
		o, ok := s.patterns.match(b)
		if !ok {
			s.missed = n > 0
			break
		}
		s.start = s.Offset()
		if err := s.marks.Sample(); err != nil {
			return 0, s.fail(err, "")
		}
		sample := s.batch.Spans[n].Shape
		if s.keyed = o.key > 0; !s.keyed {
			sample.Key = ""
		} else if key := b[o.key:o.keyEnd]; string(key) != sample.Key {
			sample.Key = keep(&s.keys, key)
		}
		if len(sample.Fields) == 0 {
			sample.Fields = append(sample.Fields, converters.Field{Name: itemField})
		}
		if s.whole {
			sample.Fields[0].Value = converters.Bytes(b[:o.size:o.size])
		} else {
			sample.Fields[0].Value = converters.Opaque(int64(o.size))
		}
		s.Pos += o.size
		s.span(n)
	}
	s.ordinal += int64(max(n-1, 0))
	return n, nil
}

// learn makes a pattern of the item that item has consumed, if patterns asks for one and the bytes are
// still in the window.
func (s *scanner) learn() {
	if b, ok := s.Since(s.start); s.patterns.missed() && ok {
		s.patterns.learn(s.forms, b)
	}
}
