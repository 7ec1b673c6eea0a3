package cbor

import "github.com/ffconvert/ffconvert/converters"

// quick is item where the item is like one of the last, by its pattern. For any other it
// passes nothing and returns false.
func (s *scanner) quick() bool {
	b := s.buf[s.i:]
	o, ok := s.patterns.match(b)
	if !ok {
		return false
	}
	if s.keyed = o.key > 0; !s.keyed {
		s.sample.Key = ""
	} else if key := b[o.key:o.keyEnd]; string(key) != s.sample.Key {
		s.sample.Key = s.keys.keep(key)
	}
	if len(s.sample.Fields) == 0 {
		s.sample.Fields = append(s.sample.Fields, converters.Field{Name: ItemField})
	}
	if s.whole {
		s.sample.Fields[0].Value = converters.Bytes(b[:o.size:o.size])
	} else {
		s.sample.Fields[0].Value = converters.Opaque(int64(o.size))
	}
	s.i += o.size
	return true
}

// learn makes a pattern of the item that item has passed, where all of it is at hand
// still and it is time for one.
func (s *scanner) learn() {
	if at := s.start - s.base; s.patterns.missed() && at >= 0 && s.i <= len(s.buf) {
		s.patterns.learn(s.forms, s.buf[at:s.i])
	}
}
