package cbor

import (
	"context"

	"github.com/ffconvert/ffconvert/converters/internal/endmark"
)

// markHead is the most bytes from the start of a mark to the end of its name: three heads and the longer name.
const markHead = 3*headMax + len(endmark.Begin)

// atMark reports whether the next item is a mark of endmark: a map of one entry with a mark's name.
func (s *scanner) atMark() (bool, error) {
	if n := int(min(int64(markHead), s.Size-s.Offset())); s.Unread() < n {
		if err := s.Fill(n); err != nil {
			return false, s.fail(err, "")
		}
	}
	b := s.Buf[s.Pos:]
	if f := &s.forms[b[0]]; f.kind != kindMap && f.kind != kindOpenMap && f.kind != kindTag || f.kind == kindMap && f.size == 1 && f.imm != 1 {
		return false, nil
	}
	var padded [markHead + headMax]byte
	copy(padded[:], b[:min(len(b), markHead)])
	b = padded[:]
	h := s.forms.parse(b)
	b = b[h.size:]
	if h.kind == kindTag && h.arg == selfDescribed {
		h = s.forms.parse(b)
		b = b[h.size:]
	}
	if h.kind != kindOpenMap && (h.kind != kindMap || h.arg != 1) {
		return false, nil
	}
	name := s.forms.parse(b)
	b = b[name.size:]
	return name.kind == kindText && name.arg <= uint64(len(endmark.Begin)) && endmark.Is(string(b[:name.arg])), nil
}

// mark consumes a mark. more is false where no sample can follow it in a run.
func (s *scanner) mark(ctx context.Context) (more bool, err error) {
	s.clear()
	if err := s.fields(); err != nil {
		return false, err
	}
	if s.keyed || len(s.sample.Fields) != 1 {
		return false, s.malformed("a map with the entry %q is a mark, and has no other entry", s.sample.Fields[0].Name)
	}
	f := s.sample.Fields[0]
	if more, err = s.marks.Mark(ctx, f, s.File, s.start); err != nil {
		return false, s.fail(err, "")
	}
	s.clear()
	return more, nil
}
