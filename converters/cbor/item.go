package cbor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// A scanner makes samples of the data items of one part, for Index and for Read, so that both accept the same items.
type scanner struct {
	parser
	whole     bool        // hold the whole item in the window, as Read does
	loadItem  bool        // Options.Load(ItemField)
	mostHeads int64       // limit of heads, if values are decoded
	quickly   bool        // try quick first
	marks     *scan.Marks // of the part; nil: Read, for which Index has compared them

	batch    scan.Batch
	sample   *converters.Sample // the one that is made, in batch
	before   int64              // size of the item before; -1: none, or one with a key
	missed   bool               // the next item is known to match no pattern
	keyed    bool               // the item has a key
	keys     strings.Builder    // see keep
	patterns patterns
	names    names
	spots    []spot // of text and bytes
	copied   []byte // bytes of fields, if the item is not held whole
}

// Begin prepares for the items of a pass.
func (s *scanner) Begin(_ context.Context, p *scan.Pass) error {
	s.part, s.ordinal, s.start = p.Part.Name, p.Run.First-1, p.Run.Off
	s.loadItem = s.opts.Load(itemField)
	s.whole, s.marks, s.before, s.missed = !p.Index || s.opts.Items && s.loadItem, nil, -1, false
	if p.Index {
		s.marks = new(scan.Marks)
	}
	s.Window.Begin(p, p.Sizes())
	return nil
}

// Next makes the next item a sample, or many that match patterns. An index passes over a byte string that is the value of a
// field, and with Options.Items over any byte string, if it is longer than the few KiB that are read with its head.
func (s *scanner) Next(ctx context.Context, want int64) ([]converters.Span, error) {
	s.Last = want == 1
	s.Relax()
	s.ordinal++
	n, err := s.quick(int(min(want, int64(len(s.batch.Spans)))))
	if err != nil {
		return nil, err
	}
	if n == 0 {
		s.sample = s.batch.Spans[0].Shape
		if more, err := s.next(ctx); err != nil || !more {
			return nil, err
		}
		s.span(0)
		n = 1
	}
	return s.batch.Spans[:n], nil
}

// span makes span i of the batch that of the current item.
func (s *scanner) span(i int) {
	span := &s.batch.Spans[i]
	span.Off, span.Shape.Off = s.start, s.start
	if s.opts.Items && !s.whole {
		size := s.Offset() - s.start
		if s.keyed {
			size = -1
		}
		span.Alike = size == s.before && !s.keyed
		s.before = size
	}
}

// next makes s.sample the next sample, or returns false at the end of the part. Marks are passed over. Values that were not
// read have their size only. The sample is valid until the next call.
func (s *scanner) next(ctx context.Context) (bool, error) {
	for {
		s.start = s.Offset()
		if s.start >= s.Size {
			return false, s.marks.Close(s.part, s.Size, s.opts.RequireEnd)
		}
		isMark, err := s.atMark()
		if err != nil {
			return false, err
		}
		if !isMark {
			break
		}
		if more, err := s.mark(ctx); err != nil || !more {
			return false, err
		}
		s.Relax()
	}
	if err := s.marks.Sample(); err != nil {
		return false, s.fail(err, "")
	}
	return true, s.one()
}

// one makes s.sample the item at the current place.
func (s *scanner) one() error {
	if s.whole {
		s.Hold()
	}
	s.clear()
	var err error
	if s.opts.Items {
		err = s.item()
	} else {
		err = s.fields()
	}
	if err != nil {
		return err
	}
	if s.Offset()-s.start > s.opts.MaxItem {
		return s.tooLarge()
	}
	if !s.keyed {
		s.sample.Key = ""
	}
	if s.quickly {
		s.learn()
	}
	return nil
}

// clear removes the fields and the state of the previous item.
func (s *scanner) clear() {
	s.depth, s.heads, s.keyed = 0, 0, false
	s.sample.Fields, s.spots, s.copied = scan.Reuse(s.sample.Fields), scan.Reuse(s.spots), scan.Reuse(s.copied)
}

// item makes the bytes of the item the only field, and looks for the key in it.
func (s *scanner) item() error {
	h, err := s.outer()
	if err != nil {
		return err
	}
	if h.Kind == heads.Map || h.Kind == heads.OpenMap {
		err = s.entries(h, (*scanner).entry)
	} else {
		err = s.walk(h)
	}
	if err != nil {
		return err
	}
	v := converters.Opaque(s.Offset() - s.start)
	if s.whole {
		v = converters.Bytes(s.Held())
	}
	s.sample.Fields = append(s.sample.Fields, converters.Field{Name: itemField, Value: v})
	return nil
}

// entry consumes an entry of a map for item.
func (s *scanner) entry(k heads.Head) error {
	isKey, err := s.atKeyEntry(k)
	if err == nil && !isKey {
		err = s.walk(k)
	}
	if err != nil {
		return err
	}
	v, err := s.head()
	if err != nil {
		return err
	}
	if isKey && v.Kind == heads.Text {
		return s.key(v)
	}
	return s.walk(v)
}

// entries calls f for each entry of the item, a map, after the head of its key. f consumes the key
// and the value.
func (s *scanner) entries(m heads.Head, f func(*scanner, heads.Head) error) error {
	n, err := s.items(m)
	if err != nil {
		return err
	}
	if s.depth++; s.depth > s.opts.MaxDepth {
		return s.tooDeep()
	}
	for ; n > 0 || m.Kind == heads.OpenMap; n -= 2 {
		k, err := s.head()
		if err != nil {
			return err
		}
		if m.Kind == heads.OpenMap && k.Kind == heads.Break {
			return nil
		}
		if err := f(s, k); err != nil {
			return err
		}
	}
	return nil
}

// key consumes the text of the sample's key, after its head.
func (s *scanner) key(h heads.Head) error {
	if s.keyed {
		return s.fail(fmt.Errorf("%w: the item has two keys", converters.ErrDuplicate), "")
	}
	b, err := s.name(h.Arg)
	if err != nil {
		return err
	}
	if s.keyed = true; string(b) != s.sample.Key {
		s.sample.Key = keep(&s.keys, b)
	}
	return nil
}

const keysBlock = 4 << 10 // bytes

// keep returns a copy of a key in a block of keysBlock bytes: one allocation for some hundred keys. A key that stays referenced
// keeps its block in memory.
func keep(block *strings.Builder, key []byte) string {
	if len(key) > keysBlock/4 {
		return string(key)
	}
	at := block.Len()
	if block.Cap()-at < len(key) {
		block.Reset()
		block.Grow(keysBlock)
		at = 0
	}
	block.Write(key)
	return block.String()[at:]
}
