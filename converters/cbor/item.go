package cbor

import (
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/window"
)

// Sizes of reads, bytes. A read behind a jump, and one for a single item, is small; others
// double up to the size of the buffer, which fits the processor's cache and reads little
// beyond a run of small items.
const (
	smallRead   = 4 << 10
	firstSweep  = 64 << 10
	indexWindow = 64 << 10
	readWindow  = 256 << 10
)

// indexing turns a scanner to a part, from its first item on.
func (s *scanner) indexing(src *Source, f io.ReaderAt, p converters.Part) {
	s.turn(src, p, 0, 0)
	s.whole = src.opts.Items && s.loadItem
	s.Reset(f, p.Size, 0, window.Sizes{First: smallRead, Usual: indexWindow})
}

// reading turns a scanner to a run.
func (s *scanner) reading(src *Source, f io.ReaderAt, p converters.Part, run converters.Run) {
	s.turn(src, p, run.First, run.Off)
	s.whole = true
	sizes := window.Sizes{First: firstSweep, Usual: readWindow}
	if run.Count == 1 {
		sizes.First = smallRead
	}
	s.Reset(f, p.Size, run.Off, sizes)
}

func (s *scanner) turn(src *Source, p converters.Part, ordinal, pos int64) {
	s.opts, s.forms, s.part = &src.opts, src.forms, p.Name
	s.ordinal, s.start = ordinal-1, pos
	s.loadItem = s.opts.Load(ItemField)
	s.quickly = s.opts.Items && !src.slow
	s.mostHeads = max(s.opts.MaxItem, 4<<20) / elementSize
}

// next makes s.sample the next item, false where the part ends. Values that are held
// have their bytes, others their size. The sample is valid until the next call.
func (s *scanner) next() (bool, error) {
	s.Relax()
	s.ordinal++
	s.start = s.Offset()
	if s.start >= s.Size {
		return false, nil
	}
	s.sample.Off = s.start
	if s.whole {
		s.Hold()
	}
	if s.quickly && s.quick() {
		return true, nil
	}
	s.begin()
	var err error
	if s.opts.Items {
		err = s.item()
	} else {
		err = s.fields()
	}
	if err != nil {
		return false, err
	}
	if s.Offset()-s.start > s.opts.MaxItem {
		return false, s.tooLarge()
	}
	if !s.keyed {
		s.sample.Key = ""
	}
	if s.quickly {
		s.learn()
	}
	return true, nil
}

// begin forgets what is known of an item.
func (s *scanner) begin() {
	s.depth, s.heads, s.keyed = 0, 0, false
	s.sample.Fields, s.spots, s.copied = reuse(s.sample.Fields), reuse(s.spots), reuse(s.copied)
}

// item takes the item as it is, and looks for the key in it.
func (s *scanner) item() error {
	h, err := s.outer()
	if err != nil {
		return err
	}
	if h.kind == kindMap || h.kind == kindOpenMap {
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
	s.sample.Fields = append(s.sample.Fields, converters.Field{Name: ItemField, Value: v})
	return nil
}

// entry passes an entry of an item that stays as it is.
func (s *scanner) entry(k head) error {
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
	if isKey && v.kind == kindText {
		return s.key(v)
	}
	return s.walk(v)
}

// outer passes the head of the item, and before it the tags that mean nothing.
func (s *scanner) outer() (head, error) {
	for {
		h, err := s.head()
		if err != nil || h.kind != kindTag || h.arg != selfDescribed {
			return h, err
		}
		if s.depth++; s.depth > s.opts.MaxDepth {
			return h, s.tooDeep()
		}
	}
}

// entries calls pass behind the head of each key of the item, a map. pass passes the
// key and the value.
func (s *scanner) entries(m head, pass func(*scanner, head) error) error {
	n, err := s.items(m)
	if err != nil {
		return err
	}
	if s.depth++; s.depth > s.opts.MaxDepth {
		return s.tooDeep()
	}
	for ; n > 0 || m.kind == kindOpenMap; n -= 2 {
		k, err := s.head()
		if err != nil {
			return err
		}
		if m.kind == kindOpenMap && k.kind == kindBreak {
			return nil
		}
		if err := pass(s, k); err != nil {
			return err
		}
	}
	return nil
}

// atKeyEntry reports whether k is the head of the name of the key's entry, and passes
// that name if so.
func (s *scanner) atKeyEntry(k head) (bool, error) {
	if k.kind != kindText || k.arg != uint64(len(keyEntry)) {
		return false, nil
	}
	if s.Unread() < len(keyEntry) {
		if err := s.need(k.arg); err != nil {
			return false, err
		}
	}
	if string(s.Buf[s.Pos:s.Pos+len(keyEntry)]) != keyEntry {
		return false, nil
	}
	s.Pos += len(keyEntry)
	return true, nil
}

// key takes the key, whose head has been passed.
func (s *scanner) key(h head) error {
	if s.keyed {
		return s.fail(fmt.Errorf("%w: the item has two keys", converters.ErrDuplicate), "")
	}
	b, err := s.name(h.arg)
	if err != nil {
		return err
	}
	if s.keyed = true; string(b) != s.sample.Key {
		s.sample.Key = s.keys.keep(b)
	}
	return nil
}

// name passes n bytes of text that is a key or names a field, and returns them. They
// are valid until the next read.
func (s *scanner) name(n uint64) ([]byte, error) {
	if n > uint64(s.opts.MaxName) {
		if err := s.claim(n); err != nil {
			return nil, err
		}
		return nil, s.fail(fmt.Errorf("%w: a key or a name of %d bytes, %d are allowed", converters.ErrLimit, n, s.opts.MaxName), hintName)
	}
	free := !s.Holds()
	s.Hold()
	if err := s.text(n); err != nil {
		return nil, err
	}
	if free {
		s.Drop()
	}
	return s.Buf[s.Pos-int(n) : s.Pos : s.Pos], nil
}

// reuse empties a slice, or lets go of it where one odd item made it large.
func reuse[T any](b []T) []T {
	if cap(b) > reusable {
		return nil
	}
	return b[:0]
}
