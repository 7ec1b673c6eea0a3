package cbor

import (
	"context"

	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// markHead is the most bytes from the start of a mark to the end of its name: three heads and the longer name.
const markHead = 3*heads.Max + len(scan.BeginMark)

// atMark reports whether the next item is a mark: a map of one entry with a mark's name.
func (p *parser) atMark() (bool, error) {
	if err := p.fillMark(); err != nil {
		return false, err
	}
	b := p.Buf[p.Pos:]
	if h := p.forms.Of(b[0]); h.Kind != heads.Map && h.Kind != heads.OpenMap && h.Kind != heads.Tag || h.Kind == heads.Map && h.Size == 1 && h.Arg != 1 {
		return false, nil
	}
	var padded [markHead + heads.Max]byte
	copy(padded[:], b[:min(len(b), markHead)])
	b = padded[:]
	h := p.forms.Parse(b)
	b = b[h.Size:]
	if h.Kind == heads.Tag && h.Arg == selfDescribed {
		h = p.forms.Parse(b)
		b = b[h.Size:]
	}
	if h.Kind != heads.OpenMap && (h.Kind != heads.Map || h.Arg != 1) {
		return false, nil
	}
	name := p.forms.Parse(b)
	b = b[name.Size:]
	return name.Kind == heads.Text && name.Arg <= uint64(len(scan.BeginMark)) && scan.IsMark(string(b[:name.Arg])), nil
}

// fillMark reads as many bytes of the next item as the longest mark has before its value.
func (p *parser) fillMark() error {
	if n := int(min(int64(markHead), p.Size-p.Offset())); p.Unread() < n {
		if err := p.Fill(n); err != nil {
			return p.fail(err, "")
		}
	}
	return nil
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
