package cbor

import (
	"github.com/ffconvert/ffconvert/converters"
)

// quick does what item does if the item matches a pattern. Otherwise it consumes nothing and returns
// false.
func (s *scanner) quick() bool {
	b := s.Buf[s.Pos:]
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
		s.sample.Fields = append(s.sample.Fields, converters.Field{Name: itemField})
	}
	if s.whole {
		s.sample.Fields[0].Value = converters.Bytes(b[:o.size:o.size])
	} else {
		s.sample.Fields[0].Value = converters.Opaque(int64(o.size))
	}
	s.Pos += o.size
	return true
}

// learn makes a pattern of the item that item has consumed, if patterns asks for one and the bytes are
// still in the window.
func (s *scanner) learn() {
	if b, ok := s.Since(s.start); s.patterns.missed() && ok {
		s.patterns.learn(s.forms, b)
	}
}
