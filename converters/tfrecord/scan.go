package tfrecord

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/text"
)

// smallRecord is the size up to which an index reads all of a record, in bytes, because one read in a row takes no longer
// than several with gaps.
const smallRecord = 16 << 10

// acceptedUnknown is counted for a record with fields that its message does not have. They are skipped, as every
// reader of protocol buffers skips them.
const acceptedUnknown = "record with unknown fields"

const hintWhole = "option encode raw keeps the record's own bytes"

// A scanner parses the records of one part, for Index and for Read, so that both accept the same records.
type scanner struct {
	message
	src      *source
	form     *form
	opts     *Options
	rule     *rule
	joined   joined
	own      int64 // bytes of the part; the window may have the parts after it, too
	whole    bool  // read all of each record, as Read does
	counting bool  // count the values of features up to the first damage, and keep none

	here     bool  // all of the record is in the window
	keyed    bool  // the record has a key
	known    int64 // entries of maps in the record
	elements int64 // fields and values of the record
	most     int64 // limit of elements

	sample converters.Sample
	spans  [2]converters.Span // what is odd in the record; the record, with sample as its shape
	index  bool
	before int64 // size of the record before
	names  names
}

// scanner returns a scanner for all parts.
func (s *source) scanner() *scanner {
	c := &scanner{src: s, form: s.form, opts: &s.opts, rule: s.rule, most: max(s.opts.MaxSample, 4<<20) / elementSize}
	c.spans[1] = converters.Span{Entries: 1, Shape: &c.sample}
	return c
}

// Begin prepares for the records of a pass.
func (s *scanner) Begin(_ context.Context, p *scan.Pass) error {
	s.part, s.own, s.ordinal = p.Part.Name, p.Part.Size, p.Run.First-1
	s.index, s.before = p.Index, -1
	s.whole = !p.Index || s.opts.Whole && s.opts.Load(recordField)
	off := p.Run.Off
	if p.Index {
		var err error
		if off, err = s.src.start(p.Run.Part); err != nil {
			return err
		}
	}
	s.turn(p.Run.Part, p.File, off, p.Sizes())
	return nil
}

// End closes the parts after that of the pass.
func (s *scanner) End() {
	s.joined.closeOthers()
	s.Window.End()
}

// Next makes the next record a sample. An index reads records of up to smallRecord bytes and compares their checksums; in
// larger ones it passes over long values of bytes. Read compares every checksum.
func (s *scanner) Next(_ context.Context, want int64) ([]converters.Span, error) {
	s.Last = want == 1
	if more, err := s.next(); err != nil || !more {
		if s.counting {
			err = nil
		}
		return nil, err
	}
	size := s.Offset() - s.start
	s.spans[1].Off, s.spans[1].Alike = s.start, s.opts.Whole && size == s.before
	s.before = size
	if s.index && s.unknown {
		s.spans[0] = converters.Span{Off: s.start, Skip: acceptedUnknown, Name: s.entry(), Accepted: true}
		return s.spans[:], nil
	}
	return s.spans[1:], nil
}

// next makes s.sample the next record, or returns false at the end of the part. Values that were not
// read have their size only. The sample is valid until the next call.
func (s *scanner) next() (bool, error) {
	s.Relax()
	s.ordinal++
	s.start = s.Offset()
	s.keyed, s.unknown, s.known, s.elements = false, false, 0, 0
	if s.start >= s.own {
		return false, nil
	}
	s.sample.Key, s.sample.Off, s.sample.Fields = "", s.start, scan.Reuse(s.sample.Fields)
	n, err := s.head()
	if err != nil {
		return false, err
	}
	if s.here = s.whole || n <= smallRecord && !s.counting; s.here {
		if err := s.check(int(n)); err != nil {
			return false, err
		}
	}
	end := s.data + n
	if s.opts.Whole {
		v := converters.Opaque(n)
		if s.whole {
			v = converters.Bytes(s.Buf[s.Pos : s.Pos+int(n) : s.Pos+int(n)])
		}
		s.sample.Fields = append(s.sample.Fields, converters.Field{Name: recordField, Value: v})
	} else if err := s.features(end); err != nil {
		return false, err
	}
	s.Skip(end + int64(s.form.Trailer) - s.Offset())
	return true, nil
}

// head consumes the head of a record and returns the size of its data.
func (s *scanner) head() (int64, error) {
	left := s.Size - s.start
	if left < int64(s.form.Head) {
		return 0, s.cut(fmt.Errorf("%w: a record begins with %d bytes, the part has %d more", converters.ErrTruncated, s.form.Head, left))
	}
	b, err := s.Peek(s.form.Head)
	if err != nil {
		return 0, s.fail(err, "")
	}
	n, err := s.form.Length(b)
	if err != nil && s.opts.Continued {
		return 0, s.fail(err, "all parts in their order, from the first one on, are one stream")
	}
	if err != nil {
		return 0, s.fail(err, "")
	}
	if left -= int64(s.form.Head + s.form.Trailer); left < 0 || n > uint64(left) {
		return 0, s.cut(fmt.Errorf("%w: the record has %d bytes of data, the part %d more", converters.ErrTruncated, n, max(left, 0)))
	}
	if int64(n) > s.opts.MaxSample {
		return 0, s.fail(fmt.Errorf("%w: the record has %s", converters.ErrLimit, text.Count(int64(n), "byte")), "option max-sample-size")
	}
	s.Pos += s.form.Head
	s.data = s.Offset()
	return int64(n), nil
}

// check reads the data of a record, n bytes, and its trailer, and compares them. It consumes nothing.
func (s *scanner) check(n int) error {
	b, err := s.Peek(n + s.form.Trailer)
	if err == nil && s.form.Check != nil {
		err = s.form.Check(b[:n], b[n:])
	}
	if err != nil {
		return s.fail(err, "")
	}
	return nil
}

// sort puts the fields in the order of their names, and refuses two of one name.
func (s *scanner) sort() error {
	fields := s.sample.Fields
	byName := func(a, b converters.Field) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(fields, byName) {
		slices.SortFunc(fields, byName)
	}
	for i := range fields[:max(len(fields), 1)-1] {
		if fields[i].Name == fields[i+1].Name {
			return s.fail(fmt.Errorf("%w feature %q", converters.ErrDuplicate, fields[i].Name), hintWhole)
		}
	}
	return nil
}

// cut places an error about a record that the part ends in.
func (s *scanner) cut(err error) error {
	hint := ""
	if s.form.Splits && !s.opts.Continued {
		hint = "option continued if it goes on in the next part"
	}
	return s.fail(err, hint)
}
